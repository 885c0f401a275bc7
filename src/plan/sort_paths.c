#include "postgres.h"

#include "compat.h"
#include "plan/sort.h"

const char *
sort_offer(const top_task *task, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	return "later";
}
