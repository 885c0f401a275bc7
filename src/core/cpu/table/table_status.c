/*
 * table_status.c
 *		Why a run has no answer.
 */
#include "core/cpu/table/table.h"

static const struct
{
	uint32_t	failure;
	mgpu_status status;
	const char *message;
}			failures[] = {
	{MGPU_TABLE_NO_MEMORY, MGPU_HOST_MEMORY, "out of memory for rows or groups of a table"},
	{MGPU_TABLE_DAMAGED, MGPU_UNSUPPORTED, "a page is damaged, or changed while it was read"},
	{MGPU_TABLE_FAULT, MGPU_UNSUPPORTED, "a value is beyond what programs compute"},
	{MGPU_TABLE_ODD, MGPU_UNSUPPORTED, "there are negative zeros, or unusual NaNs"},
	{MGPU_TABLE_OVERFLOW, MGPU_UNSUPPORTED, "a sum overflows"},
	{MGPU_TABLE_TOO_MANY, MGPU_UNSUPPORTED, "there are too many rows"},
	{MGPU_TABLE_OVER_LIMIT, MGPU_HOST_MEMORY, "rows and groups take more memory than they may have"},
	{MGPU_TABLE_TEXTS, MGPU_UNSUPPORTED, "texts take more memory than they may have"},
	{MGPU_TABLE_FILE, MGPU_HOST_MEMORY, "a temporary file of rows cannot be written or read"},
};

/* Why a run ends here, or MGPU_OK. */
mgpu_status
mgpu_table_status(const mgpu_run *run, mgpu_error *err)
{
	uint32_t	found = atomic_load(&run->failures);

	if (atomic_load(&run->cancelled))
		return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
	for (size_t i = 0; found != 0 && i < sizeof(failures) / sizeof(failures[0]); i++)
	{
		if ((found & failures[i].failure) != 0)
			return mgpu_fail(err, failures[i].status, "%s", failures[i].message);
	}
	return MGPU_OK;
}
