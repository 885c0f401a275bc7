/*
 * service/host_kept.c
 *		Pages that stay on a device: what the host does with its directory of them (kept_pages.h).
 *
 * The first device that gets a job of pages keeps them, in memory that is taken then and stays.  Jobs on other devices are told that
 * nothing is kept.
 */
#include "core/service/host_state.h"

/* Pages are counted in 32 bits, from 1 on. */
#define MOST_FRAMES ((UINT64_C(1) << 31) / MGPU_KEPT_RANGE)

static uint64_t
wanted_bytes(const mgpu_host *host, int device)
{
	mgpu_device facts;

	if (host->options.kept_bytes >= 0)
		return (uint64_t) host->options.kept_bytes;
	return host->engine->describe(device, &facts, NULL) == MGPU_OK ? facts.memory_free_bytes / 2 : 0;
}

/* As many frames as there is memory for, up to so many: others may have taken some meanwhile. */
static uint64_t
take_frames(mgpu_host *host, int device, uint64_t num_frames)
{
	while (num_frames > 0 &&
		   host->engine->keep(device, num_frames * MGPU_KEPT_FRAME_BYTES, &host->kept_memory, NULL) != MGPU_OK)
		num_frames /= 2;
	return num_frames;
}

void
mgpu_host_kept_start(mgpu_host *host, int device)
{
	uint64_t	num_frames;

	if (host->kept_is_decided)
		return;
	host->kept_is_decided = true;
	num_frames = wanted_bytes(host, device) / MGPU_KEPT_FRAME_BYTES;
	num_frames = take_frames(host, device, num_frames < MOST_FRAMES ? num_frames : MOST_FRAMES);
	if (num_frames == 0)
		return;
	host->kept = mgpu_kept_create((uint32_t) num_frames, host->service.control->kept_relations);
	host->kept_device = device;
	host->num_kept = num_frames * MGPU_KEPT_RANGE;
	if (host->kept != NULL)
		atomic_store(&host->service.control->kept_bytes, num_frames * MGPU_KEPT_FRAME_BYTES);
}

bool
mgpu_host_keeps(const mgpu_host *host, int device)
{
	return host->kept != NULL && host->kept_device == device;
}

bool
mgpu_host_answer(host_run *run, mgpu_kept_question *question)
{
	mgpu_host  *host = run->host;
	uint32_t	num_drops = atomic_load(&host->service.control->num_kept_drops);

	if (!mgpu_host_keeps(host, run->device))
	{
		for (uint32_t i = 0; i < MGPU_KEPT_RANGES; i++)
			question->ranges[i] = (mgpu_kept_range) {0};
		return true;
	}
	if (num_drops != host->num_kept_drops)
		mgpu_kept_drop(host->kept);
	host->num_kept_drops = num_drops;
	if (question->request == MGPU_KEPT_LOOK)
		mgpu_kept_look(host->kept, &run->kept, question);
	else if (question->request == MGPU_KEPT_CONFIRM)
		mgpu_kept_confirm(host->kept, &run->kept, question);
	else
		return false;
	return true;
}

bool
mgpu_host_settle_kept(host_run *run, mgpu_page_ref *refs, uint32_t num_refs)
{
	mgpu_host  *host = run->host;
	bool		keeps = mgpu_host_keeps(host, run->device);

	for (uint32_t i = 0; i < num_refs; i++)
	{
		if (refs[i].number == MGPU_PAGE_IS_KEPT)
		{
			if (!keeps || !mgpu_kept_find(host->kept, refs[i].kept, &refs[i].num_items))
				return false;
		}
		else if (refs[i].kept != 0 && !(keeps && mgpu_kept_store(host->kept, &run->kept, refs[i].kept, refs[i].num_items)))
			refs[i].kept = 0;
	}
	return true;
}

void
mgpu_host_publish_kept(host_run *run)
{
	if (run->host->kept != NULL)
		mgpu_kept_publish(run->host->kept, &run->kept);
}

void
mgpu_host_release_kept(host_run *run)
{
	if (run->host->kept != NULL)
		mgpu_kept_release(run->host->kept, &run->kept);
}
