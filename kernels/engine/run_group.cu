/*
 * engine/run_group.cu
 *		A run of MGPU_OP_GROUP from open to launch: its memory, and rows that come in batches.
 *
 * A batch is decoded by a kernel, and counts as an upload.  Columns must have room for its rows before it is sent (run_group_columns.cu).
 *
 * A device decodes the batches of all runs in one stream, where they overlap (page_rows.cuh).
 */
#include "core/group_pairs.h"
#include "engine/run_group.h"

#include <algorithm>
#include <cstdlib>

/* Mailboxes that no run uses.  They are never freed: that would wait for all kernels. */
static mgpu_group_mailbox *free_mailboxes;

static cudaError_t
take_mailbox(mgpu_group_mailbox **mailbox)
{
	cudaError_t code = cudaSuccess;
	void	   *memory = free_mailboxes;

	if (free_mailboxes != NULL)
		free_mailboxes = free_mailboxes->next;
	else
		code = cudaHostAlloc(&memory, sizeof(mgpu_group_mailbox), cudaHostAllocPortable | cudaHostAllocMapped);
	*mailbox = static_cast<mgpu_group_mailbox *>(memory);
	if (code == cudaSuccess)
		**mailbox = mgpu_group_mailbox();
	return code;
}

extern "C" cudaError_t
mgpu_group_hold_decodes(const mgpu_engine_run *run)
{
	cudaError_t code = cudaEventRecord(run->uploaded, run->device->copies[MGPU_UPLOAD].stream);

	return code == cudaSuccess ? cudaStreamWaitEvent(run->device->decode_stream, run->uploaded, 0) : code;
}

extern "C" cudaError_t
mgpu_group_await_decodes(const mgpu_engine_run *run, cudaStream_t stream)
{
	cudaError_t code = cudaEventRecord(run->decoded, run->device->decode_stream);

	return code == cudaSuccess ? cudaStreamWaitEvent(stream, run->decoded, 0) : code;
}

/* ------------------------------------------------------------------ memory */

extern "C" mgpu_status
mgpu_group_take(mgpu_engine_run *run, uint64_t bytes, void **memory, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	mgpu_status status;

	*memory = NULL;
	if (group->num_blocks == MGPU_GROUP_MAX_BLOCKS)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "too many pieces of device memory");
	if (group->memory_limit != 0 && bytes > group->memory_limit - group->taken_bytes)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed and the limit is %llu",
						 (unsigned long long) (group->taken_bytes + bytes), (unsigned long long) group->memory_limit);
	if ((status = mgpu_cuda_take_memory(run->device, bytes, memory, err)) != MGPU_OK)
		return status;
	group->blocks[group->num_blocks] = *memory;
	group->block_bytes[group->num_blocks++] = bytes;
	group->taken_bytes += bytes;
	return MGPU_OK;
}

extern "C" cudaError_t
mgpu_group_give(mgpu_engine_run *run, int begin, int end)
{
	mgpu_group_run *group = run->group;
	cudaError_t code = cudaSuccess;

	for (int i = begin; code == cudaSuccess && i < end; i++)
	{
		if (group->blocks[i] == NULL)
			continue;
		code = mgpu_cuda_give_memory(run->device, group->blocks[i]);
		group->blocks[i] = NULL;
		group->taken_bytes -= group->block_bytes[i];
	}
	return code;
}

extern "C" cudaError_t
mgpu_run_group_free(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;

	if (group == NULL)
		return cudaSuccess;
	if (group->mailbox != NULL)
	{
		group->mailbox->next = free_mailboxes;
		free_mailboxes = group->mailbox;
	}
	return mgpu_group_give(run, 0, group->num_blocks);
}

/* -------------------------------------------------------------------- open */

static mgpu_status
check_source(const mgpu_engine_run *run, const mgpu_group_source *source, mgpu_error *err)
{
	int			same_addresses = 0;
	cudaError_t code;

	if (source == NULL || source->spec == NULL || (uintptr_t) source->pages % 16 != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "groups of no spec, or of pages that are not aligned");
	code = cudaDeviceGetAttribute(&same_addresses, cudaDevAttrCanUseHostPointerForRegisteredMem, run->device->ordinal);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "starting a run");
	if (!same_addresses)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "this device cannot read pages where they are");
	return mgpu_group_validate(source->spec, err);
}

/* What kernels find out is 0, and the spec is theirs too, by way of pinned memory: so the copy waits for nothing. */
static cudaError_t
set_control(mgpu_engine_run *run)
{
	mgpu_group_control *control = mgpu_group_control_of(run);
	mgpu_group_mailbox *mailbox = run->group->mailbox;
	cudaStream_t stream = run->device->copies[MGPU_UPLOAD].stream;
	cudaError_t code = cudaMemsetAsync(control, 0, offsetof(mgpu_group_control, spec), stream);

	mailbox->spec = run->group->spec;
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(&control->spec, &mailbox->spec, sizeof(mgpu_group_spec), cudaMemcpyHostToDevice, stream);
	return code == cudaSuccess ? mgpu_group_hold_decodes(run) : code;
}

/* Memory for builds, which come before all pages. */
static mgpu_status
take_builds(mgpu_engine_run *run, mgpu_error *err)
{
	void	   *memory = NULL;
	mgpu_status status = MGPU_OK;

	if (run->group->spec.build_bytes > 0)
		status = mgpu_group_take(run, run->group->spec.build_bytes, &memory, err);
	run->group->builds = static_cast<char *>(memory);
	return status;
}

/* Marks of a build's rows, none so far, where some of these are to come themselves: there may be no page to make room for. */
static mgpu_status
take_marks(mgpu_engine_run *run, mgpu_error *err)
{
	uint64_t	bytes = mgpu_num_added(&run->group->spec);
	void	   *memory;
	mgpu_status status = bytes > 0 ? mgpu_group_take(run, bytes, &memory, err) : MGPU_OK;
	cudaError_t code;

	if (bytes == 0 || status != MGPU_OK)
		return status;
	run->group->marked = static_cast<uint8_t *>(memory);
	code = cudaMemsetAsync(memory, 0, bytes, run->device->copies[MGPU_UPLOAD].stream);
	return code == cudaSuccess ? mgpu_group_make_room(run, 0, err) : mgpu_cuda_error(err, code, "starting a run");
}

extern "C" mgpu_status
mgpu_run_group_open(mgpu_engine_run *run, const mgpu_group_source *source, const mgpu_exec_options *options,
					mgpu_error *err)
{
	mgpu_status status = check_source(run, source, err);
	mgpu_group_run *group;
	cudaError_t code;

	if (status != MGPU_OK)
		return status;
	group = static_cast<mgpu_group_run *>(calloc(1, sizeof(mgpu_group_run)));
	if (group == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory");
	run->group = group;
	group->spec = *source->spec;
	group->places = {source->pages, source->num_pages, source->kept, source->num_kept};
	group->memory_limit = options->device_memory_limit;
	group->taken_bytes = run->layout.total_bytes;
	group->columns_block = -1;
	mgpu_group_plan_record(&group->spec, &group->record);
	code = take_mailbox(&group->mailbox);
	if (code == cudaErrorMemoryAllocation)
	{
		(void) cudaGetLastError();
		return mgpu_fail(err, MGPU_HOST_MEMORY, "pinned memory is used up");
	}
	if (code == cudaSuccess)
		code = set_control(run);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "starting a run");
	status = take_builds(run, err);
	return status == MGPU_OK ? take_marks(run, err) : status;
}

/* ------------------------------------------------------------------ upload */

static uint64_t
count_items(const mgpu_page_ref *refs, uint32_t num_refs)
{
	uint64_t	num_items = 0;

	for (uint32_t i = 0; i < num_refs; i++)
		num_items += refs[i].num_items;
	return num_items;
}

/* The next launch, of so many pages. */
static mgpu_decode_request
new_request(mgpu_engine_run *run, uint32_t num_refs)
{
	mgpu_group_run *group = run->group;
	mgpu_decode_request request = {};
	uint64_t   *num_tickets = &group->num_tickets[(group->num_launches + 1) % MGPU_DECODE_PLACES];

	request.places = group->places;
	request.num_tickets = *num_tickets;
	request.num_refs = num_refs;
	request.launch = ++group->num_launches;
	request.columns = group->columns;
	request.builds = group->builds;
	request.marked = group->marked;
	request.control = mgpu_group_control_of(run);
	request.progress = &group->mailbox->progress;
	*num_tickets += num_refs;
	group->items_up_to[group->num_launches % MGPU_GROUP_LAUNCHES] = group->num_items;
	return request;
}

static cudaError_t
decode_batch(mgpu_engine_run *run, const void *batch, uint32_t num_refs)
{
	mgpu_decode_request request = new_request(run, num_refs);
	mgpu_copies *copies = &run->device->copies[MGPU_UPLOAD];
	cudaStream_t stream = run->device->decode_stream;
	cudaError_t code = mgpu_copies_begin_read(copies, stream, &request.landed, &request.landed_number);

	request.refs = static_cast<const mgpu_page_ref *>(batch);
	if (code == cudaSuccess)
		code = mgpu_group_decode(&request, stream);
	return mgpu_copies_end_read(copies, code, &run->stats.upload_ms);
}

/* Instead of a batch, rows of a build. */
static cudaError_t
decode_added(mgpu_engine_run *run, uint64_t first, uint32_t num_added)
{
	mgpu_decode_request request = new_request(run, (num_added + MGPU_DECODE_ADDED - 1) / MGPU_DECODE_ADDED);

	request.first_added = first;
	request.num_added = num_added;
	request.landed = &run->group->mailbox->added;
	return mgpu_group_decode(&request, run->device->decode_stream);
}

extern "C" cudaError_t
mgpu_group_decode_added(mgpu_engine_run *run)
{
	uint64_t	num_rows = mgpu_num_added(&run->group->spec);
	uint64_t	most = MGPU_BATCH_REFS * (uint64_t) MGPU_DECODE_ADDED;
	cudaError_t code = cudaSuccess;

	for (uint64_t first = 0; first < num_rows && code == cudaSuccess; first += most)
		code = decode_added(run, first, (uint32_t) std::min(num_rows - first, most));
	return code;
}

extern "C" mgpu_status
mgpu_run_group_upload_builds(mgpu_engine_run *run, const void *source, uint64_t bytes, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	cudaError_t code;

	if (bytes > group->spec.build_bytes - group->sent_build_bytes || group->num_launches > 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "%llu bytes of builds do not go with the job", (unsigned long long) bytes);
	code = mgpu_copies_send(&run->device->copies[MGPU_UPLOAD], group->builds + group->sent_build_bytes, source, bytes,
							&run->stats.upload_ms);
	group->sent_build_bytes += bytes;
	if (code == cudaSuccess && group->sent_build_bytes == group->spec.build_bytes)
		code = mgpu_group_hold_decodes(run);
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "uploading");
}

extern "C" mgpu_status
mgpu_run_group_upload(mgpu_engine_run *run, const void *batch, uint64_t bytes, mgpu_error *err)
{
	uint32_t	num_refs = (uint32_t) (bytes / sizeof(mgpu_page_ref));
	uint64_t	num_items;
	mgpu_status status;
	cudaError_t code;

	if (run->group->sent_build_bytes < run->group->spec.build_bytes)
		return mgpu_fail(err, MGPU_BAD_JOB, "pages before all builds");
	if (num_refs == 0 || bytes % sizeof(mgpu_page_ref) != 0 || num_refs > MGPU_BATCH_REFS || (uintptr_t) batch % 16 != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "a batch of %llu bytes", (unsigned long long) bytes);
	num_items = count_items(static_cast<const mgpu_page_ref *>(batch), num_refs);
	if ((status = mgpu_group_make_room(run, num_items, err)) != MGPU_OK)
		return status;
	run->group->num_items += num_items;
	code = decode_batch(run, batch, num_refs);
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "reading pages");
}
