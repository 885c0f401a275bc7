/*
 * input_batch.h
 *		What a job of MGPU_OP_GROUP (group_spec.h) is fed with: batches of pages, or of rows that are no page's.
 */
#ifndef MGPU_INPUT_BATCH_H
#define MGPU_INPUT_BATCH_H

#include <stdint.h>

#include "sizes.h"

/* The only size of pages for which devices have code; PostgreSQL's default. */
#define MGPU_PAGE_BYTES 8192

/* A page of a batch of input: the batch begins with these. */
typedef struct mgpu_page_ref
{
	uint32_t	number;			/* of a shared buffer, from 0; or of a copy in this batch; or MGPU_PAGE_IS_KEPT */
	uint16_t	num_items;		/* line pointers to look at, from the first on; those that are not normal are passed over */
	uint8_t		is_copy;		/* 0 or 1 */
	uint8_t		source;			/* of the tables that are read one after the other: the same for all pages of a batch */
	uint32_t	kept;			/* from 1 on: where the device has the page, or is to keep it; 0: nowhere */
	uint32_t	block;			/* of its table, for TIDs */
} mgpu_page_ref;

/* The device has the page, and nothing else counts but its source and block. */
#define MGPU_PAGE_IS_KEPT UINT32_MAX

#define MGPU_GROUP_MAX_SOURCES 256

/*
 * A batch of rows that are no page's begins with this.  Behind it are places of values, input after input, 4 bytes for each row: an offset in the batch, 0 for
 * NULL.  Values lie behind those, stored as attributes are, each from a multiple of 8 on.
 */
typedef struct mgpu_row_batch
{
	uint32_t	num_rows;
	uint32_t	num_inputs;		/* the spec's */
} mgpu_row_batch;

/* Copies lie behind, each of MGPU_PAGE_BYTES, from this offset of the batch on. */
#define MGPU_PAGE_COPIES_OFFSET MGPU_PAGE_BYTES

/* Pages of a batch that are not kept, at most.  A device reads these in 20 us. */
#define MGPU_BATCH_PAGES 128

/* All pages of a batch, at most.  Where copies are, their begin is a limit, too. */
#define MGPU_BATCH_REFS MGPU_SIZE(16384, 900)

/* Batches that an executor has at a time, at most: pages of these are kept still. */
#define MGPU_GROUP_MAX_SLOTS 8

#endif							/* MGPU_INPUT_BATCH_H */
