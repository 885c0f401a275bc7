/*
 * service/host_memory.c
 *		Gives out the extents of a service, and pins them when they are first used.
 *
 * The lowest free extents are given out first, so a service with little to do uses and
 * pins little.  Pinning fresh memory takes 0.4 ms a megabyte, most of it page faults.
 */
#include "core/service/host_state.h"

#include <stdlib.h>

/* Extents that are pinned together. */
#define PIECE_EXTENTS 8

/* A run gets no fewer, unless its data fit: each channel may hold one while the next is wanted. */
#define MIN_EXTENTS 4

enum
{
	PIECE_FRESH = 0,
	PIECE_PINNED,
	PIECE_REFUSED
};

static uint32_t
num_extents(const mgpu_host *host)
{
	return host->service.control->num_extents;
}

bool
mgpu_host_memory_init(mgpu_host *host)
{
	host->extent_used = calloc(num_extents(host) + 1, 1);
	host->piece_pinned = calloc(num_extents(host) / PIECE_EXTENTS + 1, 1);
	return host->extent_used != NULL && host->piece_pinned != NULL;
}

void
mgpu_host_memory_free(mgpu_host *host)
{
	free(host->extent_used);
	free(host->piece_pinned);
}

/* Slices of all inputs, or of all outputs if those are more. */
static uint64_t
wanted_extents(const mgpu_job *job)
{
	uint64_t	in = 0;
	uint64_t	out = 0;

	if (job->op == MGPU_OP_GROUP)
		return MGPU_SLOT_EXTENTS;
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
		in += (mgpu_input_bytes(job, i) + MGPU_EXTENT_BYTES - 1) / MGPU_EXTENT_BYTES;
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		out += (mgpu_output_bytes(job, i) + MGPU_EXTENT_BYTES - 1) / MGPU_EXTENT_BYTES;
	return in > out ? in : out;
}

static void
set_used(mgpu_host *host, uint32_t extent, bool used)
{
	host->extent_used[extent] = used;
	host->num_used += used ? 1 : -1;
	atomic_store_explicit(&host->service.control->used_extents, host->num_used, memory_order_relaxed);
}

/* Extents whose memory cannot be pinned are used for good. */
static void
give_up_piece(mgpu_host *host, uint32_t piece)
{
	for (uint32_t extent = piece * PIECE_EXTENTS; extent < (piece + 1) * PIECE_EXTENTS && extent < num_extents(host); extent++)
	{
		if (!host->extent_used[extent])
			set_used(host, extent, true);
	}
}

static void
pin_piece(mgpu_host *host, uint32_t piece)
{
	uint32_t	first = piece * PIECE_EXTENTS;
	uint32_t	count = num_extents(host) - first;
	mgpu_error	error;

	if (count > PIECE_EXTENTS)
		count = PIECE_EXTENTS;
	host->piece_pinned[piece] = PIECE_PINNED;
	if (host->engine->pin(host->service.arena + first * MGPU_EXTENT_STRIDE, count * MGPU_EXTENT_STRIDE, &error) == MGPU_OK)
		return;
	host->piece_pinned[piece] = PIECE_REFUSED;
	give_up_piece(host, piece);
}

/* Whether that many free extents are pinned.  Pins the lowest ones, and gives up what it cannot pin. */
static bool
pin_free(mgpu_host *host, uint32_t wanted)
{
	uint32_t	count = 0;

	for (uint32_t extent = 0; extent < num_extents(host) && count < wanted; extent++)
	{
		if (!host->extent_used[extent] && host->piece_pinned[extent / PIECE_EXTENTS] == PIECE_FRESH)
			pin_piece(host, extent / PIECE_EXTENTS);
		count += !host->extent_used[extent];
	}
	return count == wanted;
}

static uint32_t
share_of(uint32_t num_free, uint64_t wanted)
{
	uint64_t	share = num_free / 4;

	if (share > MGPU_SLOT_EXTENTS)
		share = MGPU_SLOT_EXTENTS;
	if (share < MIN_EXTENTS)
		share = MIN_EXTENTS;
	if (share > wanted)
		share = wanted > 0 ? wanted : 1;
	return share <= num_free ? (uint32_t) share : 0;
}

int
mgpu_host_share(mgpu_host *host, const mgpu_job *job)
{
	uint64_t	wanted = wanted_extents(job);
	uint32_t	share;

	do
		share = share_of(num_extents(host) - host->num_used, wanted);
	while (share > 0 && !pin_free(host, share));
	return (int) share;
}

void
mgpu_host_take_extents(host_run *run, int wanted)
{
	mgpu_host  *host = run->host;

	for (uint32_t extent = 0; extent < num_extents(host) && run->num_extents < wanted; extent++)
	{
		if (host->extent_used[extent])
			continue;
		set_used(host, extent, true);
		run->slot->extents[run->num_extents] = extent;
		run->extents[run->num_extents] = extent;
		run->places[run->num_extents++] = EXTENT_AT_CLIENT;
	}
	atomic_store(&run->slot->num_extents, run->num_extents);
}

void
mgpu_host_free_extents(host_run *run)
{
	for (int i = 0; i < run->num_extents; i++)
	{
		uint32_t	piece = run->extents[i] / PIECE_EXTENTS;

		/* one of an older host may be in a piece that was given up since */
		if (run->host->piece_pinned[piece] != PIECE_REFUSED)
			set_used(run->host, run->extents[i], false);
	}
	run->num_extents = 0;
	atomic_store(&run->slot->num_extents, 0);
}

void
mgpu_host_keep_extents(host_run *run)
{
	uint32_t	count = atomic_load(&run->slot->num_extents);

	for (uint32_t i = 0; i < count && i < MGPU_SLOT_EXTENTS; i++)
	{
		uint32_t	extent = run->slot->extents[i];

		if (extent >= num_extents(run->host) || run->host->extent_used[extent])
			continue;
		set_used(run->host, extent, true);
		run->extents[run->num_extents] = extent;
		run->places[run->num_extents++] = EXTENT_AT_CLIENT;
	}
}
