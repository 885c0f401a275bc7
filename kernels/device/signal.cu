/*
 * device/signal.cu
 *		Waits for a word that a kernel writes.  See device/signal.h.
 */
#include "device/signal.h"

#include <atomic>
#include <cstring>

/* Questions whose answers may still arrive.  Each has its own word. */
#define SLOTS 64

/* Reads of a word between two checks whether the stream still lives. */
#define SPINS 20000

extern "C" cudaError_t
mgpu_new_question(uint64_t **word, uint32_t *question)
{
	static uint64_t *pinned = nullptr;
	static uint32_t last_question = 0;

	if (pinned == nullptr)
	{
		void	   *memory = nullptr;
		cudaError_t status = cudaHostAlloc(&memory, SLOTS * sizeof(*pinned), cudaHostAllocPortable | cudaHostAllocMapped);

		if (status != cudaSuccess)
			return status;
		memset(memory, 0, SLOTS * sizeof(*pinned));
		pinned = static_cast<uint64_t *>(memory);
	}
	last_question += last_question == UINT32_MAX ? 2 : 1;	/* fresh words hold 0 */
	*word = &pinned[last_question % SLOTS];
	*question = last_question;
	return cudaSuccess;
}

extern "C" cudaError_t
mgpu_await_answer(const uint64_t *word, uint32_t question, cudaStream_t stream, uint32_t *answer)
{
	const volatile uint64_t *watched = word;
	uint32_t	spins = 0;
	bool		ended = false;
	uint64_t	read;

	while ((read = *watched) >> 32 != question)
	{
		cudaError_t status;

		if (++spins % SPINS != 0)
			continue;
		if (ended)
			return cudaErrorUnknown;
		status = cudaStreamQuery(stream);
		ended = status == cudaSuccess;
		if (status == cudaErrorNotReady)
			(void) cudaGetLastError();	/* not an error */
		else if (!ended)
			return status;
	}
	std::atomic_thread_fence(std::memory_order_acquire);	/* the host sees what was written before the word */
	*answer = (uint32_t) read;
	return cudaSuccess;
}
