/*
 * build_fill.h
 *		Fills a build (build.h) with rows that are there as columns of cells, by several threads.
 *
 * A part is a range of slots, and of rows.  Whoever runs a part looks at the keys of all rows and adds those whose slot is in its range,
 * so no two touch the same slot; and it copies the cells of its rows.  A row whose free slot would lie behind its range is left for the
 * end.  Slots with locks were rejected: most of the time goes to waiting for memory.  Of a dense build, keys are marked before.
 */
#ifndef MGPU_BUILD_FILL_H
#define MGPU_BUILD_FILL_H

#include "build.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MGPU_BUILD_MAX_PARTS 64

/* Rows that a part may leave: where hashes are spread, few of them share a range's end. */
#define MGPU_BUILD_MAX_LEFT 256

typedef enum mgpu_fill_state
{
	MGPU_FILL_OK,
	MGPU_FILL_REPEATED,			/* a key is there twice */
	MGPU_FILL_FAILED			/* two keys have one hash, or too many rows were left: the build is of no use */
} mgpu_fill_state;

typedef struct mgpu_build_part
{
	mgpu_fill_state state;
	uint32_t	num_left;
	uint32_t	left[MGPU_BUILD_MAX_LEFT];
} mgpu_build_part;

typedef struct mgpu_build_fill
{
	const mgpu_build *build;
	char	   *memory;			/* of all builds: zeros, where this one is */
	const uint32_t *marks;		/* of each row: bit i: column i is NULL */
	const int64_t *const *columns;
	uint32_t	num_keys;
	int			keys[MGPU_BUILD_MAX_KEYS];	/* columns of the key */
	int			cells[MGPU_BUILD_MAX_COLUMNS];	/* the column that each of the build's is */
	uint32_t	num_parts;		/* at least 1 */
	mgpu_build_part parts[MGPU_BUILD_MAX_PARTS];
} mgpu_build_fill;

/* How many parts so many threads fill a build in: a small one is one. */
uint32_t	mgpu_build_num_parts(const mgpu_build *build, int num_threads);

/* Tasks, parts of a fill: of a dense build, mark the keys of all parts and number them; then add rows.  Then all that was left. */
void		mgpu_build_mark_part(void *fill, uint64_t part, int worker);
void		mgpu_build_fill_part(void *fill, uint64_t part, int worker);
mgpu_fill_state mgpu_build_fill_end(const mgpu_build_fill *fill);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_BUILD_FILL_H */
