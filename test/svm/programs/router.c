/*
 * Passes an instruction on, as aggregators and smart wallets do: the first account is the program that is called, the others are
 * its accounts, the data its data. The first byte says how many times it is passed on to this program itself before.
 */
#include "solana.h"

typedef struct {
  Account accounts[20];
  Meta metas[20];
  Instruction instruction;
} Heap;
#define H ((Heap *)HEAP)

u64 entrypoint(u8 *input) {
  u8 *rest;
  u64 count = parse(input, H->accounts, 20, &rest);
  u64 length = load(rest);
  u8 *data = rest + 8;
  const u8 *itself = data + length;
  if (count < 2 || length < 1) FAIL(NOT_ENOUGH_ACCOUNTS);
  u64 first = data[0] ? 0 : 1;
  for (u64 i = first; i < count; i++) {
    Meta *meta = &H->metas[i - first];
    meta->key = H->accounts[i].key;
    meta->is_writable = H->accounts[i].is_writable;
    meta->is_signer = H->accounts[i].is_signer;
  }
  H->instruction.program = data[0] ? itself : H->accounts[0].key;
  H->instruction.accounts = H->metas;
  H->instruction.account_count = count - first;
  if (data[0]) {
    data[0]--;
    H->instruction.data = data;
    H->instruction.data_length = length;
  } else {
    H->instruction.data = data + 1;
    H->instruction.data_length = length - 1;
  }
  return sol_invoke_signed_c(&H->instruction, H->accounts, (int)count, 0, 0);
}
