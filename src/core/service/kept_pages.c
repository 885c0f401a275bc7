/*
 * service/kept_pages.c
 *		See kept_pages.h.
 *
 * Frames are found by a hash of relation, stretch and range.  A frame for a new range is that of a range that no job holds, by a
 * clock: one that was held since the hand was last there is passed over.
 */
#include "core/service/kept_pages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NONE UINT32_MAX

typedef struct kept_frame
{
	uint32_t	relation;		/* NONE: the frame is free */
	uint32_t	stretch;
	uint32_t	range;
	uint32_t	next;			/* in the hash's chain */
	uint64_t	lsn;
	uint64_t	valid;			/* pages that count */
	uint64_t	stored;			/* by the writer */
	uint64_t	confirmed;		/* of these */
	const mgpu_kept_holder *writer;	/* who may store; NULL: nobody */
	uint32_t	num_holds;
	bool		was_held;		/* since the clock's hand was here */
	uint16_t	items[MGPU_KEPT_RANGE];
} kept_frame;

struct mgpu_kept_pages
{
	mgpu_kept_relation *relations;
	kept_frame *frames;
	uint32_t	num_frames;
	uint32_t	num_held;		/* frames with holds */
	uint32_t	hand;
	uint32_t	num_chains;		/* a power of two */
	uint32_t   *chains;
};

/* ------------------------------------------------------------------ memory */

mgpu_kept_pages *
mgpu_kept_create(uint32_t num_frames, mgpu_kept_relation *relations)
{
	mgpu_kept_pages *kept = calloc(1, sizeof(mgpu_kept_pages));

	if (kept == NULL)
		return NULL;
	kept->relations = relations;
	kept->num_frames = num_frames;
	kept->num_chains = 16;
	while (kept->num_chains < num_frames)
		kept->num_chains *= 2;
	kept->frames = calloc(num_frames, sizeof(kept_frame));
	kept->chains = malloc(kept->num_chains * sizeof(uint32_t));
	if (kept->frames == NULL || kept->chains == NULL)
	{
		mgpu_kept_free(kept);
		return NULL;
	}
	memset(kept->chains, 0xFF, kept->num_chains * sizeof(uint32_t));
	for (uint32_t i = 0; i < num_frames; i++)
		kept->frames[i].relation = NONE;
	for (uint32_t i = 0; i < MGPU_KEPT_RELATIONS; i++)
		atomic_store(&relations[i].num_frames, 0);
	return kept;
}

void
mgpu_kept_free(mgpu_kept_pages *kept)
{
	if (kept == NULL)
		return;
	free(kept->frames);
	free(kept->chains);
	free(kept);
}

/* --------------------------------------------------------------- relations */

/* The entry of a relation; else a free one, or NONE. */
static uint32_t
find_relation(const mgpu_kept_pages *kept, const mgpu_kept_tag *tag)
{
	uint32_t	is_free = NONE;

	for (uint32_t i = 0; i < MGPU_KEPT_RELATIONS; i++)
	{
		const mgpu_kept_relation *relation = &kept->relations[i];

		if (atomic_load(&relation->num_frames) == 0)
			is_free = is_free == NONE ? i : is_free;
		else if (atomic_load(&relation->relation) == tag->relation && atomic_load(&relation->database) == tag->database &&
				 atomic_load(&relation->tablespace) == tag->tablespace)
			return i;
	}
	return is_free;
}

/* An entry that is free is made the tag's.  It stays free until it has a frame. */
static void
begin_relation(mgpu_kept_relation *relation, const mgpu_kept_tag *tag, int64_t now)
{
	if (atomic_load(&relation->num_frames) == 0)
	{
		atomic_store(&relation->tablespace, tag->tablespace);
		atomic_store(&relation->database, tag->database);
		atomic_store(&relation->relation, tag->relation);
		atomic_store(&relation->is_dropped, 0);
		atomic_store(&relation->num_pages, 0);
		atomic_store(&relation->num_hits, 0);
		atomic_store(&relation->kept_at, now);
	}
	atomic_store(&relation->read_at, now);
}

/* ------------------------------------------------------------------ frames */

static uint32_t *
chain_of(const mgpu_kept_pages *kept, uint32_t relation, uint32_t stretch, uint32_t range)
{
	uint64_t	hash = ((uint64_t) relation << 40 ^ (uint64_t) stretch << 12 ^ range) * UINT64_C(0x9E3779B97F4A7C15);

	return &kept->chains[hash >> 32 & (kept->num_chains - 1)];
}

static uint32_t
find_frame(const mgpu_kept_pages *kept, uint32_t relation, uint32_t stretch, uint32_t range)
{
	uint32_t	number = *chain_of(kept, relation, stretch, range);

	while (number != NONE && (kept->frames[number].relation != relation || kept->frames[number].stretch != stretch ||
							  kept->frames[number].range != range))
		number = kept->frames[number].next;
	return number;
}

/* What is in a frame does not count any more. */
static void
empty_frame(const mgpu_kept_pages *kept, kept_frame *frame)
{
	atomic_fetch_sub(&kept->relations[frame->relation].num_pages, (uint64_t) __builtin_popcountll(frame->valid));
	frame->valid = frame->stored = frame->confirmed = 0;
	frame->writer = NULL;
}

/* Take a frame that nobody holds from its range. */
static void
free_frame(mgpu_kept_pages *kept, uint32_t number)
{
	kept_frame *frame = &kept->frames[number];
	uint32_t   *link;

	if (frame->relation == NONE)
		return;
	empty_frame(kept, frame);
	link = chain_of(kept, frame->relation, frame->stretch, frame->range);
	while (*link != number)
		link = &kept->frames[*link].next;
	*link = frame->next;
	atomic_fetch_sub(&kept->relations[frame->relation].num_frames, 1);
	frame->relation = NONE;
}

/* A frame that no range has any more; NONE: jobs hold all. */
static uint32_t
next_frame(mgpu_kept_pages *kept)
{
	if (kept->num_held == kept->num_frames)
		return NONE;
	for (;;)
	{
		uint32_t	number = kept->hand;
		kept_frame *frame = &kept->frames[number];

		kept->hand = (kept->hand + 1) % kept->num_frames;
		if (frame->num_holds > 0)
			continue;
		if (frame->relation == NONE || !frame->was_held)
		{
			free_frame(kept, number);
			return number;
		}
		frame->was_held = false;
	}
}

static uint32_t
add_frame(mgpu_kept_pages *kept, uint32_t relation, uint32_t stretch, uint32_t range)
{
	uint32_t	number = next_frame(kept);
	uint32_t   *chain = chain_of(kept, relation, stretch, range);
	kept_frame *frame;

	if (number == NONE)
		return NONE;
	frame = &kept->frames[number];
	*frame = (kept_frame) {.relation = relation,.stretch = stretch,.range = range,.next = *chain};
	*chain = number;
	atomic_fetch_add(&kept->relations[relation].num_frames, 1);
	return number;
}

/* -------------------------------------------------------------------- jobs */

static bool
hold(mgpu_kept_pages *kept, mgpu_kept_holder *holder, uint32_t number)
{
	if (holder->num_frames == holder->capacity)
	{
		uint32_t	capacity = holder->capacity > 0 ? 2 * holder->capacity : 64;
		uint32_t   *frames = realloc(holder->frames, capacity * sizeof(uint32_t));

		if (frames == NULL)
			return false;
		holder->frames = frames;
		holder->capacity = capacity;
	}
	holder->frames[holder->num_frames++] = number;
	kept->num_held += kept->frames[number].num_holds++ == 0;
	kept->frames[number].was_held = true;
	return true;
}

/* The frame of a range with pages of this LSN, or for these; NONE: there is none for now. */
static uint32_t
frame_for(mgpu_kept_pages *kept, uint32_t relation, const mgpu_kept_question *question, uint32_t range)
{
	uint32_t	number = find_frame(kept, relation, question->stretch, range);
	kept_frame *frame;

	if (number == NONE)
		number = add_frame(kept, relation, question->stretch, range);
	if (number == NONE)
		return NONE;
	frame = &kept->frames[number];
	if (frame->lsn == question->lsn)
		return number;
	/* who asks with an older LSN has looked at the map before others did */
	if (frame->num_holds > 0 || frame->lsn > question->lsn)
		return NONE;
	empty_frame(kept, frame);
	frame->lsn = question->lsn;
	return number;
}

static void
look_at_range(mgpu_kept_pages *kept, mgpu_kept_holder *holder, uint32_t relation, mgpu_kept_question *question, uint32_t number)
{
	mgpu_kept_range *range = &question->ranges[number];
	uint64_t	wanted = range->bits;
	uint32_t	found = wanted != 0 ? frame_for(kept, relation, question, number) : NONE;
	kept_frame *frame;

	*range = (mgpu_kept_range) {0};
	if (found == NONE || !hold(kept, holder, found))
		return;
	frame = &kept->frames[found];
	range->frame = found;
	range->bits = wanted & frame->valid;
	if ((wanted & ~frame->valid) != 0 && (frame->writer == NULL || frame->writer == holder))
	{
		frame->writer = holder;
		range->may_store = 1;
	}
}

void
mgpu_kept_look(mgpu_kept_pages *kept, mgpu_kept_holder *holder, mgpu_kept_question *question)
{
	uint32_t	relation = find_relation(kept, &question->tag);
	uint64_t	num_hits = 0;

	holder->first = holder->num_frames;
	if (relation != NONE)
		begin_relation(&kept->relations[relation], &question->tag, (int64_t) time(NULL));
	for (uint32_t i = 0; i < MGPU_KEPT_RANGES; i++)
	{
		if (relation != NONE)
			look_at_range(kept, holder, relation, question, i);
		else
			question->ranges[i] = (mgpu_kept_range) {0};
		num_hits += (uint64_t) __builtin_popcountll(question->ranges[i].bits);
	}
	if (num_hits > 0)
		atomic_fetch_add(&kept->relations[relation].num_hits, num_hits);
}

/* The frame of a page, and the page's bit in it; NULL: there is none that is held. */
static kept_frame *
frame_of_page(const mgpu_kept_pages *kept, uint32_t number, uint64_t *bit)
{
	uint32_t	frame = (number - 1) / MGPU_KEPT_RANGE;

	*bit = UINT64_C(1) << (number - 1) % MGPU_KEPT_RANGE;
	return number > 0 && frame < kept->num_frames && kept->frames[frame].num_holds > 0 ? &kept->frames[frame] : NULL;
}

bool
mgpu_kept_find(mgpu_kept_pages *kept, uint32_t number, uint16_t *num_items)
{
	uint64_t	bit;
	const kept_frame *frame = frame_of_page(kept, number, &bit);

	if (frame == NULL || (frame->valid & bit) == 0)
		return false;
	*num_items = frame->items[(number - 1) % MGPU_KEPT_RANGE];
	return true;
}

bool
mgpu_kept_store(mgpu_kept_pages *kept, const mgpu_kept_holder *holder, uint32_t number, uint16_t num_items)
{
	uint64_t	bit;
	kept_frame *frame = frame_of_page(kept, number, &bit);

	if (frame == NULL || frame->writer != holder || ((frame->valid | frame->stored) & bit) != 0)
		return false;
	frame->stored |= bit;
	frame->items[(number - 1) % MGPU_KEPT_RANGE] = num_items;
	return true;
}

void
mgpu_kept_confirm(mgpu_kept_pages *kept, const mgpu_kept_holder *holder, const mgpu_kept_question *question)
{
	for (uint32_t i = holder->first; i < holder->num_frames; i++)
	{
		kept_frame *frame = &kept->frames[holder->frames[i]];

		if (frame->writer == holder && frame->lsn == question->lsn)
			frame->confirmed |= frame->stored & question->ranges[frame->range].bits;
	}
}

void
mgpu_kept_publish(mgpu_kept_pages *kept, const mgpu_kept_holder *holder)
{
	for (uint32_t i = 0; i < holder->num_frames; i++)
	{
		kept_frame *frame = &kept->frames[holder->frames[i]];

		if (frame->writer != holder)
			continue;
		frame->valid |= frame->confirmed;
		atomic_fetch_add(&kept->relations[frame->relation].num_pages, (uint64_t) __builtin_popcountll(frame->confirmed));
		frame->confirmed = 0;
	}
}

void
mgpu_kept_release(mgpu_kept_pages *kept, mgpu_kept_holder *holder)
{
	for (uint32_t i = 0; i < holder->num_frames; i++)
	{
		kept_frame *frame = &kept->frames[holder->frames[i]];

		kept->num_held -= --frame->num_holds == 0;
		if (frame->writer != holder)
			continue;
		frame->writer = NULL;
		frame->stored = frame->confirmed = 0;
	}
	free(holder->frames);
	*holder = (mgpu_kept_holder) {0};
}

/* Jobs that hold a frame read on.  Nobody else will, for no map page has the LSN 0 and a bit. */
void
mgpu_kept_drop(mgpu_kept_pages *kept)
{
	for (uint32_t i = 0; i < kept->num_frames; i++)
	{
		kept_frame *frame = &kept->frames[i];

		if (frame->relation == NONE || atomic_load(&kept->relations[frame->relation].is_dropped) == 0)
			continue;
		if (frame->num_holds == 0)
			free_frame(kept, i);
		else
		{
			frame->lsn = 0;
			frame->writer = NULL;
		}
	}
	for (uint32_t i = 0; i < MGPU_KEPT_RELATIONS; i++)
		atomic_store(&kept->relations[i].is_dropped, 0);
}
