/*
 * played_group.c
 *		Jobs of MGPU_OP_GROUP on played devices, in plain C.
 *
 * What a device does by kernels happens here row by row: pages are decoded by the same code, and rows are kept whole.
 * They are sorted as a whole, and then each group is reduced by itself.  Plain loops were preferred to anything faster: kernels are
 * tested against this.
 */
#include "played/played_group_run.h"

#include <stdlib.h>
#include <string.h>

played_group *
mgpu_played_group_create(const mgpu_group_source *source, mgpu_error *err)
{
	played_group *group;

	if (source == NULL || source->spec == NULL)
	{
		(void) mgpu_fail(err, MGPU_BAD_JOB, "groups of no spec");
		return NULL;
	}
	if (mgpu_group_validate(source->spec, err) != MGPU_OK)
		return NULL;
	group = calloc(1, sizeof(played_group));
	group->spec = *source->spec;
	group->builds = calloc(1, group->spec.build_bytes + 1);
	group->marked = calloc(1, (size_t) mgpu_num_added(&group->spec) + 1);
	group->places = (mgpu_page_places) {source->pages, source->num_pages, source->kept, source->num_kept};
	for (uint32_t i = 0; i < group->spec.num_constants; i++)
		group->constants[i] = mgpu_group_constant_of(&group->spec, i);
	mgpu_group_plan_record(&group->spec, &group->record);
	return group;
}

void
mgpu_played_group_free(played_group *group)
{
	if (group == NULL)
		return;
	for (int i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		free(group->sorted[i]);
	free(group->builds);
	free(group->marked);
	free(group->records);
	free(group->order);
	free(group->rows);
	free(group);
}

char *
mgpu_played_group_builds(played_group *group, uint64_t *bytes)
{
	*bytes = group->spec.build_bytes;
	return group->builds;
}

/* -------------------------------------------------------------------- rows */

static const char *
page_of(const played_group *group, const void *batch, uint64_t bytes, uint32_t number)
{
	return mgpu_page_of_ref(((const mgpu_page_ref *) batch)[number], batch, (uint32_t) (bytes / sizeof(mgpu_page_ref)),
							&group->places);
}

bool
mgpu_played_group_check(const played_group *group, const void *batch, uint64_t bytes,
						bool (*is_pinned) (const char *memory, uint64_t bytes))
{
	if (bytes == 0 || bytes % sizeof(mgpu_page_ref) != 0 || bytes > MGPU_BATCH_REFS * sizeof(mgpu_page_ref))
		return false;
	for (uint32_t i = 0; i < bytes / sizeof(mgpu_page_ref); i++)
	{
		const char *page = page_of(group, batch, bytes, i);

		if (((const mgpu_page_ref *) batch)[i].number == MGPU_PAGE_IS_KEPT)
			continue;
		/* its ends may have been pinned apart */
		if (page != NULL && !(is_pinned(page, 1) && is_pinned(page + MGPU_PAGE_BYTES - 1, 1)))
			return false;
	}
	return true;
}

static played_row *
add_row(played_group *group)
{
	if (group->num_rows == group->capacity)
	{
		group->capacity = group->capacity > 0 ? 2 * group->capacity : 1024;
		group->rows = realloc(group->rows, group->capacity * sizeof(played_row));
	}
	return memset(&group->rows[group->num_rows++], 0, sizeof(played_row));
}

static void
keep_row(played_group *group, const mgpu_row_program *program, mgpu_row_frame *frame)
{
	played_row *row = add_row(group);

	mgpu_run_row_columns(&group->spec, program, frame);
	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		mgpu_cell_state state = mgpu_row_cell(&group->spec, program, frame, i, &row->codes[i]);

		row->nulls |= (uint32_t) (state == MGPU_CELL_NULL) << i;
		group->has_fault |= state == MGPU_CELL_FAULT;
		group->is_odd |= state == MGPU_CELL_ODD;
	}
}

/* Keep all rows that a row becomes; their number. */
static uint64_t
keep_rows(played_group *group, const mgpu_row_program *program, mgpu_row_pairs *pairs, mgpu_row_frame *frame)
{
	uint64_t	count = 0;

	for (; mgpu_next_row(&group->spec, program, pairs, frame); count++)
		keep_row(group, program, frame);
	group->has_fault |= pairs->is_fault;
	return count;
}

static void
read_page(played_group *group, const char *source, mgpu_page_ref ref)
{
	mgpu_row_program program = mgpu_group_program(&group->spec, group->builds, group->constants);
	char	   *kept = mgpu_kept_place_of_ref(ref, &group->places);
	_Alignas(8) char page[MGPU_PAGE_BYTES];
	mgpu_row_pairs pairs;
	mgpu_row_frame frame;

	memcpy(page, source, MGPU_PAGE_BYTES);
	if (kept != NULL)
		memcpy(kept, page, MGPU_PAGE_BYTES);
	for (uint32_t item = 0; item < ref.num_items; item++)
	{
		mgpu_row_state state = mgpu_find_row_inputs(&group->spec, page, mgpu_tid_of(ref, item), &frame);

		group->is_damaged |= state == MGPU_ROW_DAMAGED;
		if (state != MGPU_ROW_READ)
			continue;
		group->result.num_read++;
		group->result.read_of_source[ref.source]++;
		mgpu_begin_row(&pairs, group->marked);
		group->result.rows_of_source[ref.source] += keep_rows(group, &program, &pairs, &frame);
	}
}

/* The rows of a build that come themselves. */
static void
add_rows(played_group *group)
{
	mgpu_row_program program = mgpu_group_program(&group->spec, group->builds, group->constants);
	mgpu_row_pairs pairs;
	mgpu_row_frame frame;

	for (uint32_t i = 0; i < mgpu_num_added(&group->spec); i++)
	{
		if (!mgpu_is_added(&group->spec, group->marked, i))
			continue;
		mgpu_begin_added_row(&group->spec, &program, i, &pairs, &frame);
		(void) keep_rows(group, &program, &pairs, &frame);
	}
}

void
mgpu_played_group_read(played_group *group, const void *batch, uint64_t bytes)
{
	for (uint32_t i = 0; i < bytes / sizeof(mgpu_page_ref); i++)
	{
		const char *page = page_of(group, batch, bytes, i);

		group->is_damaged |= page == NULL;
		if (page != NULL)
			read_page(group, page, ((const mgpu_page_ref *) batch)[i]);
	}
}

/* ---------------------------------------------------------------------- run */

static mgpu_status
check_rows(const played_group *group, mgpu_error *err)
{
	if (group->is_damaged)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a page is damaged, or changed while it was read");
	if (group->has_fault)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a value is beyond what programs compute");
	if (group->is_odd)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "there are negative zeros, or unusual NaNs");
	return MGPU_OK;
}

mgpu_status
mgpu_played_group_run(played_group *group, mgpu_error *err)
{
	mgpu_status status;
	bool		has_limit = group->spec.limit_rule != MGPU_LIMIT_NONE;
	uint64_t	begin = 0;

	add_rows(group);
	status = check_rows(group, err);
	if (status != MGPU_OK)
		return status;
	mgpu_played_order_rows(group);
	group->result.num_rows = group->num_rows;
	/* at most a group a row, and one of no rows */
	group->records = calloc(group->num_rows + 1, group->record.num_words * sizeof(uint64_t));
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		group->sorted[i] = calloc(group->num_rows + 1, sizeof(uint64_t));
	if (group->num_rows == 0 && group->spec.num_keys == 0 && !has_limit)
		mgpu_played_write_record(group, 0, 0);
	while (begin < group->num_rows)
	{
		uint64_t	end = mgpu_played_group_end(group, begin);

		if (has_limit)
			mgpu_played_return_rows(group, begin, end);
		else
			mgpu_played_write_record(group, begin, end);
		begin = end;
	}
	return group->overflows ? mgpu_fail(err, MGPU_UNSUPPORTED, "a sum overflows") : MGPU_OK;
}

void
mgpu_played_group_result(const played_group *group, mgpu_group_result *result)
{
	*result = group->result;
}

const char *
mgpu_played_group_output(const played_group *group, mgpu_output output)
{
	return output == MGPU_OUTPUT_GROUPS ? (const char *) group->records : (const char *) group->sorted[output - MGPU_OUTPUT_SORTED];
}
