/*
 * A lending vault for tests, written after the published interface of Jupiter Lend: shares of a growing price, in 1e12, which the account
 * Lending holds. It lends to nobody: its assets lie in the account that is called vault, which its own PDA owns.
 */
#include "solana.h"

#define DEPOSIT 0xb6f2e15289c623f2ULL
#define REDEEM 0xe161c44695560cb8ULL
#define WITHDRAW 0x22a16d949c4612b7ULL
#define PRECISION 1000000000000ULL
enum { WRONG_ACCOUNT = 6000, NOTHING = 6001 };

u64 sol_try_find_program_address(const Seed *seeds, int count, const u8 *program, u8 *found, u8 *bump);

typedef struct {
  Account accounts[20];
  Account used[6];
  Meta metas[5];
  Instruction instruction;
  u8 data[16];
  Seed seeds[2];
  Signer signer;
  u8 word[16];
  u8 bump;
  u8 admin[32];
} Heap;
#define H ((Heap *)HEAP)

APART void use(u64 i, u64 place, u8 writable, u8 signer) {
  H->metas[i].key = H->accounts[place].key;
  H->metas[i].is_writable = writable && H->accounts[place].is_writable;
  H->metas[i].is_signer = signer;
  H->used[i] = H->accounts[place];
}

/* An instruction of the token program on accounts at these places, four bits each. */
APART u64 token(u64 tag, u64 amount, u64 places, u64 count, u64 program) {
  H->data[0] = (u8)tag;
  for (int i = 0; i < 8; i++) H->data[1 + i] = (u8)(amount >> (8 * i));
  for (u64 i = 0; i < count; i++) use(i, (places >> (4 * i)) & 15, i + 1 < count, i + 1 == count);
  H->instruction.program = H->accounts[program].key;
  H->instruction.accounts = H->metas;
  H->instruction.account_count = count;
  H->instruction.data = H->data;
  H->instruction.data_length = tag == 12 ? 10 : 9;
  H->used[count] = H->accounts[program];
  return sol_invoke_signed_c(&H->instruction, H->used, (int)count + 1, &H->signer, 1);
}

APART u64 deposit(u64 count, u64 assets) {
  Account *a = H->accounts;
  if (count < 17) FAIL(NOT_ENOUGH_ACCOUNTS);
  u8 *lending = a[5].data;
  if (!same(a[4].key, H->admin) || !same(lending + 8, a[3].key) || !same(lending + 40, a[6].key)) FAIL(WRONG_ACCOUNT);
  if (assets == ~0ULL) assets = load(a[1].data + 64);
  u64 shares = mul_div(assets, PRECISION, load(lending + 115), 0);
  if (shares == 0) FAIL(NOTHING);
  H->data[9] = a[3].data[44];
  u64 failed = token(12, assets, 0x0a31, 4, 14);
  if (failed) return failed;
  return token(7, shares, 0x426, 3, 14);
}

APART u64 take(u64 count, u64 amount, u64 is_shares) {
  Account *a = H->accounts;
  if (count < 18) FAIL(NOT_ENOUGH_ACCOUNTS);
  u8 *lending = a[4].data;
  if (!same(a[3].key, H->admin) || !same(lending + 8, a[5].key) || !same(lending + 40, a[6].key)) FAIL(WRONG_ACCOUNT);
  u64 price = load(lending + 115), shares = amount, assets = amount;
  if (amount == ~0ULL) {
    shares = load(a[1].data + 64);
    is_shares = 1;
  }
  if (is_shares) assets = mul_div(shares, price, PRECISION, 0);
  else shares = mul_div(assets, PRECISION, price, 1);
  if (assets == 0) FAIL(NOTHING);
  u64 failed = token(8, shares, 0x061, 3, 15);
  if (failed) return failed;
  H->data[9] = a[5].data[44];
  return token(12, assets, 0x325a, 4, 15);
}

u64 entrypoint(u8 *input) {
  u8 *rest;
  u64 count = parse(input, H->accounts, 20, &rest);
  u64 length = load(rest);
  u8 *data = rest + 8;
  const u8 *itself = data + length;
  if (count < 7) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (length < 16) FAIL(INVALID_ARGUMENT);
  if (!H->accounts[0].is_signer) FAIL(MISSING_SIGNATURE);
  u8 *w = H->word;
  w[0] = 'l'; w[1] = 'e'; w[2] = 'n'; w[3] = 'd'; w[4] = 'i'; w[5] = 'n'; w[6] = 'g';
  w[7] = '_'; w[8] = 'a'; w[9] = 'd'; w[10] = 'm'; w[11] = 'i'; w[12] = 'n';
  H->seeds[0].bytes = w;
  H->seeds[0].length = 13;
  if (sol_try_find_program_address(H->seeds, 1, itself, H->admin, &H->bump)) FAIL(WRONG_ACCOUNT);
  H->seeds[1].bytes = &H->bump;
  H->seeds[1].length = 1;
  H->signer.seeds = H->seeds;
  H->signer.count = 2;
  u64 tag = load(data), amount = load(data + 8);
  if (tag == DEPOSIT) return deposit(count, amount);
  if (tag == REDEEM) return take(count, amount, 1);
  if (tag == WITHDRAW) return take(count, amount, 0);
  FAIL(INVALID_ARGUMENT);
}
