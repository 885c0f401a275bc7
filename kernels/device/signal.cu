/*
 * device/signal.cu
 *		Waits for words that kernels write.  See device/signal.h.
 */
#include "device/signal.h"

#include <atomic>
#include <cstring>

/* Questions whose answers may still arrive.  Each has its own words. */
#define SLOTS 64

/* Reads of a word between two checks whether the stream still lives. */
#define SPINS 20000

extern "C" cudaError_t
mgpu_new_question(mgpu_signals **signals, uint32_t *question)
{
	static mgpu_signals *pinned = nullptr;
	static uint32_t last_question = 0;

	if (pinned == nullptr)
	{
		void	   *memory = nullptr;
		cudaError_t status = cudaHostAlloc(&memory, SLOTS * sizeof(*pinned), cudaHostAllocPortable | cudaHostAllocMapped);

		if (status != cudaSuccess)
			return status;
		memset(memory, 0, SLOTS * sizeof(*pinned));
		pinned = static_cast<mgpu_signals *>(memory);
	}
	last_question += last_question == UINT32_MAX ? 2 : 1;	/* fresh words hold 0 */
	*signals = &pinned[last_question % SLOTS];
	*question = last_question;
	return cudaSuccess;
}

extern "C" cudaError_t
mgpu_await_answers(const mgpu_signals *signals, uint32_t first, uint32_t num_words, uint32_t question,
				   cudaStream_t stream)
{
	const volatile uint64_t *words = signals->words + first;
	uint32_t	spins = 0;
	bool		ended = false;

	for (uint32_t word = 0; word < num_words;)
	{
		if (words[word] >> 32 == question)
			word++;
		else if (++spins % SPINS == 0)
		{
			cudaError_t status;

			if (ended)
				return cudaErrorUnknown;
			status = cudaStreamQuery(stream);
			ended = status == cudaSuccess;
			if (status == cudaErrorNotReady)
				(void) cudaGetLastError();	/* not an error */
			else if (!ended)
				return status;
		}
	}
	std::atomic_thread_fence(std::memory_order_acquire);	/* the host sees what was written before the words */
	return cudaSuccess;
}
