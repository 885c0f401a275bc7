/*
 * byte_order.h
 *		Sorts byte strings by jobs of 64-bit codes.
 */
#ifndef MGPU_BYTE_ORDER_H
#define MGPU_BYTE_ORDER_H

#include "byte_source.h"
#include "run.h"
#include "sort_spec.h"
#include "thread_work.h"

/* Codes of strings that all share what is before offset, made before. */
typedef struct byte_codes
{
	uint64	   *codes;			/* left as it is */
	uint32		offset;
} byte_codes;

/* Memory of the caller's that nobody else uses while a sort lasts, aligned as palloc's is. */
typedef struct byte_room
{
	char	   *start;
	Size		bytes;			/* 0: none */
} byte_room;

/* What the sorts of one call have in common. */
typedef struct byte_order_call
{
	thread_work work;			/* whoever has the call sees to its end */
	run_record	record;			/* of the first job, times of all */
	bool		has_job;
	bool		on_cpu;			/* a job ran there, so the rest do */
	char		cpu_reason[MGPU_ERROR_MESSAGE_BYTES];
	byte_room	room;
} byte_order_call;

/*
 * ranks[i] = index of the i-th string in order, in each segment if there are
 * segments (NULL: none; else of these num_items); equal strings keep their order.
 * data_bytes is what mgpu_last_run() shows.
 */
extern void byte_order_ranks(const sort_spec *spec, const segment_list *segments,
							 const byte_source *bytes, int64 num_items, Size data_bytes,
							 uint32 *ranks);

/* The same, with room for what would else be allocated, as far as it goes. */
extern void byte_order_ranks_in(const byte_room *room, const sort_spec *spec, const segment_list *segments,
								const byte_source *bytes, int64 num_items, Size data_bytes, uint32 *ranks);

/*
 * The same in parts: start, any number of parts, end.  codes may be NULL, and are not
 * for segments.  thread_work_stop(work) is
 * the caller's to call on every way out.
 */
extern void byte_order_start(byte_order_call *call, const sort_spec *spec, int64 num_segments, int64 num_items,
							 Size data_bytes);
extern void byte_order_part(byte_order_call *call, const sort_spec *spec, const segment_list *segments,
							const byte_source *bytes, const byte_codes *codes, int64 num_items, uint32 *ranks);
/* What is on record as the last run, such as a sort without a job, is one of the call's. */
extern void byte_order_note(byte_order_call *call);

/* The same of one that no job could do: the rest runs where it would have, and is what the record tells of. */
extern void byte_order_note_kept(byte_order_call *call);
extern void byte_order_end(byte_order_call *call);

#endif							/* MGPU_BYTE_ORDER_H */
