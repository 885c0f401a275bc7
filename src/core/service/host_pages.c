/*
 * service/host_pages.c
 *		Pages that devices read where they are: PostgreSQL's shared buffers.
 *
 * Memory is pinned in pieces, when a page in them is first read, and stays so.  Clients are told how many pages they
 * may name, from the first on.  Where a piece cannot be pinned, these become fewer, and clients send copies of the
 * others.
 */
#include "core/service/host_state.h"

#include <stdlib.h>

/* Pinning takes 0.1 ms a megabyte of memory that has been used: 7 ms a piece, in which nothing else is done. */
#define PIECE_BYTES ((uint64_t) MGPU_SIZE(64 * 1024 * 1024, 128 * 1024))

/* The system's pages are what can be pinned. */
#define SYSTEM_PAGE UINT64_C(4096)

/* Memory before and behind the shared pages, in their first and last page of the system, is pinned with them. */
static uint64_t
begin_of(const mgpu_host *host)
{
	return (uint64_t) host->options.shared_pages / SYSTEM_PAGE * SYSTEM_PAGE;
}

static uint64_t
end_of(const mgpu_host *host)
{
	uint64_t	end = (uint64_t) host->options.shared_pages + host->options.num_shared_pages * MGPU_PAGE_BYTES;

	return (end + SYSTEM_PAGE - 1) / SYSTEM_PAGE * SYSTEM_PAGE;
}

bool
mgpu_host_pages_init(mgpu_host *host)
{
	host->end_of_pages = end_of(host);
	host->page_pieces = calloc((host->end_of_pages - begin_of(host)) / PIECE_BYTES + 1, sizeof(bool));
	atomic_store(&host->service.control->num_shared_pages, host->options.num_shared_pages);
	return host->page_pieces != NULL;
}

static bool
pin_piece(mgpu_host *host, uint64_t piece)
{
	uint64_t	begin = begin_of(host) + piece * PIECE_BYTES;
	uint64_t	bytes = host->end_of_pages - begin;
	uint64_t	left = 0;
	mgpu_error	error;

	if (host->page_pieces[piece])
		return true;
	if (bytes > PIECE_BYTES)
		bytes = PIECE_BYTES;
	host->page_pieces[piece] = host->engine->pin((void *) begin, bytes, &error) == MGPU_OK;
	if (host->page_pieces[piece])
		return true;
	if (begin > (uint64_t) host->options.shared_pages)
		left = (begin - (uint64_t) host->options.shared_pages) / MGPU_PAGE_BYTES;
	host->options.num_shared_pages = left;
	atomic_store(&host->service.control->num_shared_pages, left);
	return false;
}

bool
mgpu_host_pin_pages(mgpu_host *host, const mgpu_page_ref *refs, uint32_t num_refs)
{
	for (uint32_t i = 0; i < num_refs; i++)
	{
		bool		has_room = num_refs * sizeof(mgpu_page_ref) <= MGPU_PAGE_COPIES_OFFSET;
		uint64_t	begin = (uint64_t) host->options.shared_pages + (uint64_t) refs[i].number * MGPU_PAGE_BYTES - begin_of(host);

		if (refs[i].number == MGPU_PAGE_IS_KEPT || (refs[i].is_copy && refs[i].number < MGPU_EXTENT_COPIES && has_room))
			continue;
		if (refs[i].is_copy || refs[i].number >= host->options.num_shared_pages || !pin_piece(host, begin / PIECE_BYTES) ||
			!pin_piece(host, (begin + MGPU_PAGE_BYTES - 1) / PIECE_BYTES))
			return false;
	}
	return true;
}
