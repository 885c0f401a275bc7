/*
 * engine/run_group_columns.cu
 *		Columns of a run of MGPU_OP_GROUP, which rows come to: their memory.
 *
 * Columns must have room for all line pointers of a batch before it is sent.  How many rows the batches before had, the host reads from pinned
 * memory, as far as it is known; of later ones it takes the line pointers.  When that does not fit, columns move to
 * twice the memory.  Their old place is freed when all uploads have ended: in between a copy may be under way.
 *
 * Where rows have matches, no line pointer says how many there will be: room is made for half as many again as there were so far, and what does not fit
 * ends the run.  To count them first, and to wait for that, was rejected: a batch takes no longer to decode than the host to ask.
 */
#include "core/group_pairs.h"
#include "engine/run_group.h"

/* Where columns are in a block at `base`; returns the bytes that they take. */
static uint64_t
place_columns(const mgpu_group_spec *spec, char *base, uint64_t capacity, mgpu_group_columns *columns)
{
	uint64_t	end = 0;

	*columns = mgpu_group_columns();
	columns->capacity = capacity;
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		if (mgpu_column_is_stored(spec, i))
			columns->codes[i] = (uint64_t *) (base + mgpu_group_place(&end, capacity * sizeof(uint64_t)));
	}
	columns->nulls = (uint32_t *) (base + mgpu_group_place(&end, capacity * sizeof(uint32_t)));
	return end;
}

/* Between all batches before and all that come. */
static cudaError_t
move_columns(mgpu_engine_run *run, const mgpu_group_columns *to)
{
	const mgpu_group_columns *from = &run->group->columns;
	cudaStream_t stream = run->device->copies[MGPU_UPLOAD].stream;
	cudaError_t code = mgpu_group_await_decodes(run, stream);

	if (code == cudaSuccess)
		code = cudaMemcpyAsync(to->nulls, from->nulls, from->capacity * sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream);
	for (int i = 0; code == cudaSuccess && i < MGPU_GROUP_MAX_COLUMNS; i++)
	{
		if (from->codes[i] != NULL)
			code = cudaMemcpyAsync(to->codes[i], from->codes[i], from->capacity * sizeof(uint64_t),
								   cudaMemcpyDeviceToDevice, stream);
	}
	return code == cudaSuccess ? mgpu_group_hold_decodes(run) : code;
}

/* Columns of a new capacity, with all rows so far. */
static mgpu_status
resize_columns(mgpu_engine_run *run, uint64_t capacity, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	mgpu_group_columns columns;
	uint64_t	bytes = place_columns(&group->spec, NULL, capacity, &columns);
	void	   *memory;
	mgpu_status status = mgpu_group_take(run, bytes, &memory, err);
	cudaError_t code;

	if (status != MGPU_OK)
		return status;
	(void) place_columns(&group->spec, static_cast<char *>(memory), capacity, &columns);
	/* how many rows there are is not known here, so all that is copied is set */
	code = cudaMemsetAsync(memory, 0, bytes, run->device->copies[MGPU_UPLOAD].stream);
	if (code == cudaSuccess)
		code = group->columns_block >= 0 ? move_columns(run, &columns) : mgpu_group_hold_decodes(run);
	group->columns = columns;
	group->columns_block = group->num_blocks - 1;
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "uploading");
}

/* No more rows than these have come, or will with so many line pointers: as far as that is known, if they have matches. */
static uint64_t
most_rows(const mgpu_group_run *group, uint64_t num_items)
{
	uint64_t	progress = *(volatile uint64_t *) &group->mailbox->progress;
	uint32_t	launch = (uint32_t) (progress >> 32);
	uint64_t	known_rows = (uint32_t) progress;
	uint64_t	known_items = group->items_up_to[launch % MGPU_GROUP_LAUNCHES];
	uint64_t	other_items = group->num_items - known_items + num_items;
	uint64_t	matches = group->spec.num_matches > 0 && known_items > 0 ? known_rows + known_rows / 2 : 0;

	if (group->spec.num_matches > 0 && group->spec.matches[0].kind == MGPU_MATCH_MARKS)
		return mgpu_num_added(&group->spec);
	if (matches > known_items)
		other_items = other_items / known_items * matches + matches;
	return known_rows + other_items + mgpu_num_added(&group->spec);
}

extern "C" mgpu_status
mgpu_group_make_room(mgpu_engine_run *run, uint64_t num_items, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	uint64_t	needed = most_rows(group, num_items);
	uint64_t	wanted = group->columns_block < 0 ? run->job.num_items : 2 * group->columns.capacity;
	uint64_t	most = group->spec.num_matches > 0 ? MGPU_DECODE_MOST_MATCHED : MGPU_MAX_ITEMS;

	if (group->columns_block >= 0 && needed <= group->columns.capacity)
		return MGPU_OK;
	if (needed > most)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "there may be more than %llu rows", (unsigned long long) most);
	if (wanted > most)
		wanted = most;
	/* expectations may be wrong: then what is needed will do */
	if (wanted > needed && resize_columns(run, wanted, NULL) == MGPU_OK)
		return MGPU_OK;
	return resize_columns(run, needed, err);
}
