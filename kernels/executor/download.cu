/*
 * executor/download.cu
 *		Large results by DMA into pinned slots, copied on by several threads.
 *
 * The link brings 55 GB/s and one core copies 7 to 10, so helper threads, and the caller between
 * its duties, copy landed slots piece by piece to the result.  Slots are used in turn and emptied
 * oldest first, so three counters describe them all (download.h).  `sent` belongs to the caller,
 * the others change under the mutex.
 *
 * Rejected: pinning the result, which costs 20 ms for 512 MB of touched memory; threads kept
 * between runs, since making one takes some 20 us while the kernels run.
 */
#include "executor/download.h"

#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <signal.h>

#include "core/cpu_threads.h"

typedef struct download_slot
{
	int			ring_slot;
	const char *source;			/* pinned */
	char	   *target;
	uint64_t	bytes;
	uint64_t	claimed_bytes;	/* a thread copies or has copied them */
	uint64_t	copied_bytes;
	mgpu_run_output *output;
} download_slot;

struct mgpu_download
{
	pthread_mutex_t mutex;
	pthread_cond_t slot_landed;
	pthread_cond_t slot_copied;
	bool		stopping;
	int			num_helpers;
	pthread_t	helpers[MGPU_DOWNLOAD_THREADS];
	int			num_slots;
	download_slot slots[MGPU_DOWNLOAD_SLOTS];
	uint64_t	num_retired;	/* slots, from the first of all */
	uint64_t	num_landed;
	uint64_t	num_sent;
};

static download_slot *
slot_of(mgpu_download *download, uint64_t number)
{
	return &download->slots[number % (uint64_t) download->num_slots];
}

/* --------------------------------------------------------------- threads */

/* Copy a piece of the oldest slot that has one left; the mutex is held around it. */
static bool
copy_piece(mgpu_download *download)
{
	for (uint64_t number = download->num_retired; number < download->num_landed; number++)
	{
		download_slot *slot = slot_of(download, number);
		uint64_t	begin = slot->claimed_bytes;
		uint64_t	bytes = slot->bytes - begin;

		if (bytes == 0)
			continue;
		if (bytes > MGPU_DOWNLOAD_PIECE_BYTES)
			bytes = MGPU_DOWNLOAD_PIECE_BYTES;
		slot->claimed_bytes += bytes;
		pthread_mutex_unlock(&download->mutex);
		memcpy(slot->target + begin, slot->source + begin, bytes);
		pthread_mutex_lock(&download->mutex);
		slot->copied_bytes += bytes;
		if (slot->copied_bytes == slot->bytes)
			pthread_cond_signal(&download->slot_copied);
		return true;
	}
	return false;
}

static void *
helper_main(void *argument)
{
	mgpu_download *download = static_cast<mgpu_download *>(argument);

	pthread_mutex_lock(&download->mutex);
	while (!download->stopping)
	{
		if (!copy_piece(download))
			pthread_cond_wait(&download->slot_landed, &download->mutex);
	}
	pthread_mutex_unlock(&download->mutex);
	return nullptr;
}

/* As many threads as can be made.  Signals of the process are for its main thread. */
static void
start_helpers(mgpu_download *download, int num_helpers)
{
	sigset_t	all;
	sigset_t	old;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
		return;
	while (download->num_helpers < num_helpers &&
		   pthread_create(&download->helpers[download->num_helpers], nullptr, helper_main, download) == 0)
		download->num_helpers++;
	pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

static void
destroy(mgpu_download *download)
{
	pthread_cond_destroy(&download->slot_copied);
	pthread_cond_destroy(&download->slot_landed);
	pthread_mutex_destroy(&download->mutex);
	free(download);
}

extern "C" mgpu_download *
mgpu_download_start(uint64_t total_bytes, int num_threads)
{
	int			num_helpers = num_threads - 1 < MGPU_DOWNLOAD_THREADS ? num_threads - 1 : MGPU_DOWNLOAD_THREADS;
	mgpu_download *download;

	if (total_bytes < MGPU_DOWNLOAD_MIN_BYTES || num_helpers < 1)
		return nullptr;
	download = static_cast<mgpu_download *>(calloc(1, sizeof(mgpu_download)));
	if (download == nullptr)
		return nullptr;
	/* with default attributes these three only initialize memory */
	(void) pthread_mutex_init(&download->mutex, nullptr);
	(void) pthread_cond_init(&download->slot_landed, nullptr);
	(void) pthread_cond_init(&download->slot_copied, nullptr);
	start_helpers(download, num_helpers);
	if (download->num_helpers > 0)
		return download;
	destroy(download);
	return nullptr;
}

extern "C" int
mgpu_download_num_threads(const mgpu_download *download)
{
	return 1 + download->num_helpers;
}

extern "C" void
mgpu_download_stop(mgpu_download *download)
{
	if (download == nullptr)
		return;
	pthread_mutex_lock(&download->mutex);
	download->stopping = true;
	pthread_cond_broadcast(&download->slot_landed);
	pthread_mutex_unlock(&download->mutex);
	while (download->num_helpers > 0)
		(void) pthread_join(download->helpers[--download->num_helpers], nullptr);
}

extern "C" void
mgpu_download_end(mgpu_download *download)
{
	if (download == nullptr)
		return;
	mgpu_download_stop(download);
	for (int i = 0; i < download->num_slots; i++)
		mgpu_ring_drop(download->slots[i].ring_slot);
	destroy(download);
}

/* ---------------------------------------------------------------- caller */

/* At least two slots: one fills while the other is emptied. */
static mgpu_status
hold_slots(mgpu_download *download, mgpu_error *err)
{
	mgpu_status status = MGPU_OK;

	while (download->num_slots < MGPU_DOWNLOAD_SLOTS && status == MGPU_OK)
	{
		download_slot *slot = &download->slots[download->num_slots];

		status = mgpu_ring_hold(&slot->ring_slot, err);
		if (status != MGPU_OK)
			break;
		slot->source = static_cast<const char *>(mgpu_ring_memory(slot->ring_slot));
		download->num_slots++;
	}
	return status == MGPU_HOST_MEMORY && download->num_slots >= 2 ? MGPU_OK : status;
}

/* The first output that was not asked for whole, or NULL. */
static mgpu_run_output *
next_output(mgpu_run_output *outputs, int num_outputs)
{
	for (int i = 0; i < num_outputs; i++)
	{
		if (outputs[i].asked_bytes < outputs[i].total_bytes)
			return &outputs[i];
	}
	return nullptr;
}

/* Have the device fill every free slot. */
static cudaError_t
send_slots(mgpu_download *download, mgpu_cuda_device *device, mgpu_run_output *outputs, int num_outputs)
{
	cudaError_t code = cudaSuccess;
	mgpu_run_output *output;

	while (code == cudaSuccess && download->num_sent - download->num_retired < (uint64_t) download->num_slots &&
		   (output = next_output(outputs, num_outputs)) != nullptr)
	{
		download_slot *slot = slot_of(download, download->num_sent);
		uint64_t	bytes = output->total_bytes - output->asked_bytes;

		if (bytes > MGPU_RING_SLOT_BYTES)
			bytes = MGPU_RING_SLOT_BYTES;
		slot->output = output;
		slot->target = output->items + output->asked_bytes;
		slot->bytes = bytes;
		slot->claimed_bytes = 0;
		slot->copied_bytes = 0;
		code = cudaMemcpyAsync(mgpu_ring_memory(slot->ring_slot), output->d_items + output->asked_bytes, bytes,
							   cudaMemcpyDeviceToHost, device->compute_stream);
		if (code == cudaSuccess)
			code = cudaEventRecord(device->slot_end[slot->ring_slot], device->compute_stream);
		output->asked_bytes += bytes;
		download->num_sent++;
	}
	return code;
}

/* Tell the threads what has arrived. */
static cudaError_t
land_slots(mgpu_download *download, mgpu_cuda_device *device)
{
	uint64_t	num_landed = download->num_landed;
	cudaError_t code = cudaSuccess;

	while (num_landed < download->num_sent)
	{
		code = cudaEventQuery(device->slot_end[slot_of(download, num_landed)->ring_slot]);
		if (code != cudaSuccess)
			break;
		num_landed++;
	}
	if (code == cudaErrorNotReady)
	{
		(void) cudaGetLastError();
		code = cudaSuccess;
	}
	if (num_landed > download->num_landed)
	{
		pthread_mutex_lock(&download->mutex);
		download->num_landed = num_landed;
		pthread_cond_broadcast(&download->slot_landed);
		pthread_mutex_unlock(&download->mutex);
	}
	return code;
}

/* Count slots that are empty again. */
static void
retire_slots(mgpu_download *download)
{
	pthread_mutex_lock(&download->mutex);
	while (download->num_retired < download->num_landed)
	{
		download_slot *slot = slot_of(download, download->num_retired);

		if (slot->copied_bytes < slot->bytes)
			break;
		slot->output->received_bytes += slot->bytes;
		download->num_retired++;
	}
	pthread_mutex_unlock(&download->mutex);
}

/* Copy a piece.  If none is there and none will land, wait for the oldest slot. */
static void
help_or_wait(mgpu_download *download)
{
	pthread_mutex_lock(&download->mutex);
	if (!copy_piece(download) && download->num_landed == download->num_sent)
	{
		download_slot *oldest = slot_of(download, download->num_retired);

		while (oldest->copied_bytes < oldest->bytes)
			pthread_cond_wait(&download->slot_copied, &download->mutex);
	}
	pthread_mutex_unlock(&download->mutex);
}

static bool
is_complete(const mgpu_run_output *outputs, int num_outputs)
{
	for (int i = 0; i < num_outputs; i++)
	{
		if (outputs[i].received_bytes < outputs[i].total_bytes)
			return false;
	}
	return true;
}

extern "C" mgpu_status
mgpu_download_run(mgpu_download *download, mgpu_cuda_device *device, mgpu_run_output *outputs, int num_outputs,
				  mgpu_error *err)
{
	double		end_ms = mgpu_now_ms() + MGPU_DOWNLOAD_POLL_MS;

	if (download->num_slots == 0)
	{
		mgpu_status status = hold_slots(download, err);

		if (status != MGPU_OK)
			return status;
	}
	while (mgpu_now_ms() < end_ms)
	{
		cudaError_t code = send_slots(download, device, outputs, num_outputs);

		if (code == cudaSuccess)
			code = land_slots(download, device);
		if (code != cudaSuccess)
			return mgpu_cuda_error(err, code, "downloading");
		retire_slots(download);
		if (is_complete(outputs, num_outputs))
			return MGPU_OK;
		help_or_wait(download);
	}
	return MGPU_PENDING;
}
