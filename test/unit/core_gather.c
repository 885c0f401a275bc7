/*
 * core_gather.c
 *		Gathers (gather.h) against a plain loop.
 *
 * The tests cover all kinds of input and many sizes, with one thread and with several.
 */
#include "core/cpu_threads.h"
#include "core/gather.h"
#include "unit.h"

/* Distributions of element sizes. */
typedef enum shape
{
	SHAPE_EMPTY,
	SHAPE_ONE_SIZE,
	SHAPE_SHORT,
	SHAPE_MIXED
} shape;

#define NUM_SHAPES (SHAPE_MIXED + 1)

static uint32_t
random_size(shape kind)
{
	switch (kind)
	{
		case SHAPE_EMPTY:
			return unit_random_below(4) == 0 ? 0 : 4;
		case SHAPE_ONE_SIZE:
			return 16;
		case SHAPE_SHORT:
			return (uint32_t) unit_random_below(40);
		default:
			return unit_random_below(100) == 0 ? (uint32_t) unit_random_below(5000) : (uint32_t) unit_random_below(90);
	}
}

/* An element starts with a word that holds its size, including the word. */
static uint32_t
bytes_of(const char *element)
{
	uint32_t	bytes;

	memcpy(&bytes, element, sizeof(bytes));
	return bytes;
}

typedef struct input
{
	uint32_t	num_items;
	uint32_t   *offsets;
	char	   *data;
	const char **cells;
	mgpu_span  *spans;
	uint32_t   *positions;
	char	   *expected;
	uint64_t	num_bytes;
} input;

static void
make_input(input *in, uint32_t num_items, shape kind)
{
	uint32_t	end = 0;
	uint64_t	place = 0;

	in->num_items = num_items;
	in->offsets = unit_allocate((num_items + 1) * sizeof(uint32_t));
	in->cells = unit_allocate(num_items * sizeof(char *));
	in->spans = unit_allocate(num_items * sizeof(mgpu_span));
	in->positions = unit_allocate(num_items * sizeof(uint32_t));
	for (uint32_t i = 0; i < num_items; i++)
	{
		in->offsets[i] = end;
		end += sizeof(uint32_t) + random_size(kind);
		in->positions[i] = i;
	}
	in->offsets[num_items] = end;
	in->num_bytes = end;
	in->data = unit_allocate(end);
	in->expected = unit_allocate(end);
	for (uint32_t i = 0; i < end; i++)
		in->data[i] = (char) unit_random();
	for (uint32_t i = 0; i < num_items; i++)
	{
		uint32_t	other = (uint32_t) unit_random_below(i + 1);
		uint32_t	bytes = in->offsets[i + 1] - in->offsets[i];

		in->cells[i] = in->data + in->offsets[i];
		/* a span covers the bytes after the word */
		in->spans[i] = (mgpu_span) {in->offsets[i] + sizeof(uint32_t), bytes - sizeof(uint32_t)};
		memcpy(in->data + in->offsets[i], &bytes, sizeof(bytes));
		in->positions[i] = in->positions[other];
		in->positions[other] = i;
	}
	for (uint32_t i = 0; i < num_items; i++)
	{
		uint32_t	begin = in->offsets[in->positions[i]];
		uint32_t	bytes = in->offsets[in->positions[i] + 1] - begin;

		memcpy(in->expected + place, in->data + begin, bytes);
		place += bytes;
	}
}

static void
free_input(input *in)
{
	free(in->offsets);
	free(in->cells);
	free(in->spans);
	free(in->positions);
	free(in->data);
	free(in->expected);
}

static void
check_gather(const input *in, int by, uint32_t task_items, int num_threads)
{
	mgpu_gather gather = {.data = in->data, .positions = in->positions, .num_items = in->num_items, .task_items = task_items};
	mgpu_pool  *pool = mgpu_pool_start(num_threads);
	uint64_t	num_tasks = mgpu_gather_tasks(&gather);

	if (by == 0)
		gather.offsets = in->offsets;
	else
		gather.bytes_of = bytes_of;
	if (by == 1)
		gather.cells = in->cells;
	if (by == 2)
	{
		gather.spans = in->spans;
		gather.data -= sizeof(uint32_t);
	}
	gather.dest = unit_allocate(in->num_bytes);
	gather.ends = unit_allocate(num_tasks * sizeof(*gather.ends));
	memset((void *) gather.ends, 0, num_tasks * sizeof(*gather.ends));
	mgpu_pool_begin(pool, mgpu_gather_task, &gather, num_tasks);
	while (!mgpu_pool_work(pool, 20.0))
		;
	mgpu_pool_stop(pool);
	UNIT_CHECK(memcmp(gather.dest, in->expected, in->num_bytes) == 0);
	UNIT_CHECK(num_tasks == 0 || gather.ends[num_tasks - 1] == in->num_bytes + 1);
	free(gather.dest);
	free((void *) gather.ends);
}

int
main(void)
{
	static const uint32_t sizes[] = {1, 2, 100, MGPU_GATHER_TASK_ITEMS - 1, MGPU_GATHER_TASK_ITEMS, MGPU_GATHER_TASK_ITEMS + 1, 20000};

	UNIT_CHECK(mgpu_gather_task_items(10, UINT64_C(1) << 40) == 1);
	UNIT_CHECK(mgpu_gather_task_items(1000, 16000) == MGPU_GATHER_TASK_ITEMS);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int kind = 0; kind < NUM_SHAPES; kind++)
		{
			input		in;

			make_input(&in, sizes[i], (shape) kind);
			for (int mode = 0; mode < 12; mode++)
			{
				UNIT_CONTEXT("%u items, shape %d, mode %d", sizes[i], kind, mode);
				check_gather(&in, mode % 3, mode / 3 & 1 ? 1 + (uint32_t) unit_random_below(50) : MGPU_GATHER_TASK_ITEMS,
							 mode / 6 ? 4 : 1);
			}
			free_input(&in);
		}
	return unit_report();
}
