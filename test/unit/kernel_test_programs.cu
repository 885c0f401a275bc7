/*
 * kernel_test_programs.cu
 *		Each operation of programs by threads of a GPU, against the CPU's loops over arrays, to the bit.
 */
#include "kernel_test.cuh"

#include <cmath>
#include <cstring>

#include "kernel_program_cases.h"
#include "unit_program_made.h"

#define THREADS 128

/* A row of a case.  Registers in front of the result are constants, or the thread's own. */
static __global__ void
run_rows(const program_rows *rows, uint32_t num_constants, mgpu_row_register *results)
{
	uint32_t	row = blockIdx.x * THREADS + threadIdx.x;
	mgpu_row_program program = {&rows->op, 1, rows->lanes, rows->tables, rows->builds, rows->build_memory, nullptr, num_constants};
	mgpu_row_register registers[PROGRAM_CASE_REGISTERS] = {};
	const char *inputs[2];
	char		room[ROW_MADE_BYTES];
	mgpu_made	made = {room, sizeof(room), {0}};

	if (row >= PROGRAM_CASE_ROWS)
		return;
	program.constants = rows->registers[row];
	for (uint32_t i = num_constants; i < PROGRAM_CASE_REGISTERS; i++)
		registers[i - num_constants] = rows->registers[row][i];
	for (int i = 0; i < 2; i++)
		inputs[i] = rows->inputs[row][i];
	mgpu_program_run_row(&program, 0, 1, registers, inputs, &made);
	results[row] = settled_result(rows->op.code, *mgpu_row_register_at(&program, registers, PROGRAM_CASE_REGISTERS - 1));
}

/* A value has the same bits.  What a register holds beside NULL and faults does not count. */
static bool
is_expected(const program_rows *rows, uint32_t row, const mgpu_row_register &result)
{
	const mgpu_row_register &expected = rows->expected[row];

	if (result.states[0] != expected.states[0] || result.states[0] != MGPU_IS_VALUE)
		return result.states[0] == expected.states[0];
	if (result.lengths[0] != expected.lengths[0])
		return false;
	return memcmp(result.integers, expected.integers, sizeof(int64_t)) == 0 ||
		(rows->any_nan && std::isnan(result.reals[0]) && std::isnan(expected.reals[0]));
}

static void
test_program_op(void *given, int code, int num_cases, program_rows *rows, mgpu_row_register *results)
{
	uint32_t	num_wrong = 0;
	uint32_t	first_wrong = 0;

	for (int i = 0; i < num_cases; i++)
	{
		program_case_make(given, code, rows);
		run_rows<<<(PROGRAM_CASE_ROWS + THREADS - 1) / THREADS, THREADS>>>(rows, (uint32_t) i % PROGRAM_CASE_REGISTERS, results);
		REQUIRE_CUDA(cudaGetLastError());
		REQUIRE_CUDA(cudaDeviceSynchronize());
		for (uint32_t row = 0; row < PROGRAM_CASE_ROWS; row++)
		{
			if (is_expected(rows, row, results[row]))
				continue;
			if (num_wrong++ == 0)
				first_wrong = row;
			if (num_wrong == 1)
				printf("%s: width %u, number %lld: state %u, bits %llx, not %u, %llx\n", mgpu_program_names[code], rows->op.width,
					   (long long) rows->op.number, results[row].states[0], (unsigned long long) results[row].integers[0],
					   rows->expected[row].states[0], (unsigned long long) rows->expected[row].integers[0]);
		}
	}
	CHECK(num_wrong == 0, "%s: %u rows differ, row %u first", mgpu_program_names[code], num_wrong, first_wrong);
}

/* Memory that both sides read: cases have pointers into themselves. */
static void *
take_managed(uint64_t bytes)
{
	void	   *memory = nullptr;

	REQUIRE_CUDA(cudaMallocManaged(&memory, bytes));
	memset(memory, 0, bytes);
	return memory;
}

void
test_programs(void)
{
	void	   *given = take_managed(program_case_bytes());
	program_rows *rows = static_cast<program_rows *>(take_managed(sizeof(program_rows)));
	mgpu_row_register *results = static_cast<mgpu_row_register *>(take_managed(PROGRAM_CASE_ROWS * sizeof(mgpu_row_register)));

	program_case_open(given);
	for (int code = 0; code < MGPU_PROGRAM_NUM_CODES; code++)
		test_program_op(given, code, tiny ? 2 : quick ? 10 : 100, rows, results);
	program_case_close(given);
	REQUIRE_CUDA(cudaFree(given));
	REQUIRE_CUDA(cudaFree(rows));
	REQUIRE_CUDA(cudaFree(results));
}
