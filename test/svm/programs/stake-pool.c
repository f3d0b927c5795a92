/*
 * A stake pool for tests, written after the published layout of accounts and instructions of SPL stake pools: SOL comes in
 * and goes out against pool tokens, and once an epoch the pool is brought up to date. It has no validators: all that it
 * owns is its reserve. Accounts of instructions come in the published order.
 */
#include "solana.h"

enum { UPDATE = 0x07, DEPOSIT_SOL = 0x0e, WITHDRAW_SOL = 0x10, DEPOSIT_SOL_AT_LEAST = 0x19, WITHDRAW_SOL_AT_LEAST = 0x1a };
enum { OUT_OF_DATE = 17, SLIPPAGE = 39, WRONG_ACCOUNT = 1, WITHDRAWAL_TOO_SMALL = 28, DEPOSIT_TOO_SMALL = 29, WITHDRAWAL_TOO_LARGE = 35 };
/* Rent of the reserve, a stake account of 200 bytes. */
#define RESERVE_RENT 2282880ULL

typedef struct {
  Account accounts[16];
  Instruction instruction;
  Meta metas[8];
  Account used[8];
  u8 data[16];
  Seed seeds[3];
  Signer signer;
  u8 bump;
  u8 authority[32];
  Clock clock;
  const u8 *sol_deposit_fee;
  const u8 *sol_withdrawal_fee;
  u8 *last_epoch;
  u8 referral;
  const u8 *deposit_authority;
  const u8 *withdraw_authority;
} Heap;
#define H ((Heap *)HEAP)

/* Finds the fields behind those of variable length. */
APART void read_tail(u8 *pool) {
  u8 *at = pool + 346;
  at += *at ? 17 : 1;
  at += *at ? 33 : 1;
  at += *at ? 33 : 1;
  at += 32;
  at += *at ? 17 : 1;
  at += 1;
  H->deposit_authority = *at ? at + 1 : 0;
  at += *at ? 33 : 1;
  H->sol_deposit_fee = at;
  H->referral = at[16];
  at += 17;
  H->withdraw_authority = *at ? at + 1 : 0;
  at += *at ? 33 : 1;
  H->sol_withdrawal_fee = at;
  at += 16;
  at += *at ? 17 : 1;
  H->last_epoch = at;
}

APART u64 fee_of(const u8 *fee, u64 amount) {
  u64 denominator = load(fee);
  return denominator ? mul_div(amount, load(fee + 8), denominator, 1) : 0;
}

APART void use(int i, const Account *account, u8 writable, u8 signer) {
  H->metas[i].key = account->key;
  H->metas[i].is_writable = writable;
  H->metas[i].is_signer = signer;
  H->used[i] = *account;
}

/* Runs what was put together, the pool's authority signing. */
APART u64 call(const u8 *program, int accounts, u64 data_length, const Account *itself) {
  H->instruction.program = program;
  H->instruction.accounts = H->metas;
  H->instruction.account_count = accounts;
  H->instruction.data = H->data;
  H->instruction.data_length = data_length;
  H->used[accounts] = *itself;
  return sol_invoke_signed_c(&H->instruction, H->used, accounts + 1, &H->signer, 1);
}

/* An instruction of the token program with an amount: of accounts a and b, by their places; `authority` signs. */
APART u64 token(u64 tag, u64 amount, u64 ab, u64 authority, u64 program) {
  Account *all = H->accounts;
  H->data[0] = tag;
  for (int i = 0; i < 8; i++) H->data[1 + i] = (u8)(amount >> (8 * i));
  use(0, &all[ab >> 4], 1, 0);
  use(1, &all[ab & 15], 1, 0);
  use(2, &all[authority], 0, 1);
  return call(all[program].key, 3, 9, &all[program]);
}

INLINE u64 supply_of(const Account *mint) { return load(mint->data + 36); }

APART u64 deposit(u64 count, u64 lamports, u64 least) {
  Account *a = H->accounts;
  u8 *pool = a[0].data;
  if (count < 10) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(a[2].key, pool + 130) || !same(a[7].key, pool + 162) || !same(a[5].key, pool + 194)) FAIL(WRONG_ACCOUNT);
  if (!a[3].is_signer) FAIL(MISSING_SIGNATURE);
  if (H->deposit_authority && (count < 11 || !a[10].is_signer || !same(a[10].key, H->deposit_authority))) FAIL(MISSING_SIGNATURE);
  if (load(pool + 274) < H->clock.epoch) FAIL(OUT_OF_DATE);
  u64 total = load(pool + 258), supply = load(pool + 266);
  u64 tokens = total && supply ? mul_div(lamports, supply, total, 0) : lamports;
  u64 fee = fee_of(H->sol_deposit_fee, tokens);
  u64 referral = mul_div(fee, H->referral, 100, 0);
  u64 mine = tokens - fee;
  if (mine == 0) FAIL(DEPOSIT_TOO_SMALL);
  if (mine < least) FAIL(SLIPPAGE);

  *(u32 *)H->data = 2;
  for (int i = 0; i < 8; i++) H->data[4 + i] = (u8)(lamports >> (8 * i));
  use(0, &a[3], 1, 1);
  use(1, &a[2], 1, 0);
  u64 failed = call(a[8].key, 2, 12, &a[8]);
  if (failed) return failed;
  failed = token(7, mine, 0x74, 1, 9);
  if (failed) return failed;
  if (fee - referral) {
    failed = token(7, fee - referral, 0x75, 1, 9);
    if (failed) return failed;
  }
  if (referral) {
    failed = token(7, referral, 0x76, 1, 9);
    if (failed) return failed;
  }
  store(pool + 258, total + lamports);
  store(pool + 266, supply + tokens);
  return 0;
}

APART u64 withdraw(u64 count, u64 tokens, u64 least) {
  Account *a = H->accounts;
  u8 *pool = a[0].data;
  if (count < 12) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(a[4].key, pool + 130) || !same(a[7].key, pool + 162) || !same(a[6].key, pool + 194)) FAIL(WRONG_ACCOUNT);
  if (H->withdraw_authority && (count < 13 || !a[12].is_signer || !same(a[12].key, H->withdraw_authority))) FAIL(MISSING_SIGNATURE);
  if (load(pool + 274) < H->clock.epoch) FAIL(OUT_OF_DATE);
  u64 total = load(pool + 258), supply = load(pool + 266);
  u64 fee = same(a[3].key, a[6].key) ? 0 : fee_of(H->sol_withdrawal_fee, tokens);
  u64 burnt = tokens - fee;
  u64 lamports = supply ? mul_div(burnt, total, supply, 0) : 0;
  if (lamports == 0) FAIL(WITHDRAWAL_TOO_SMALL);
  if (lamports < least) FAIL(SLIPPAGE);
  if (lamports + RESERVE_RENT > *a[4].lamports) FAIL(WITHDRAWAL_TOO_LARGE);

  u64 failed = token(8, burnt, 0x37, 2, 11);
  if (failed) return failed;
  if (fee) {
    failed = token(3, fee, 0x36, 2, 11);
    if (failed) return failed;
  }
  *(u32 *)H->data = 4;
  for (int i = 0; i < 8; i++) H->data[4 + i] = (u8)(lamports >> (8 * i));
  use(0, &a[4], 1, 0);
  use(1, &a[5], 1, 0);
  use(2, &a[8], 0, 0);
  use(3, &a[9], 0, 0);
  use(4, &a[1], 0, 1);
  failed = call(a[10].key, 5, 12, &a[10]);
  if (failed) return failed;
  store(pool + 258, total - lamports);
  store(pool + 266, supply - burnt);
  return 0;
}

APART u64 update(u64 count) {
  Account *a = H->accounts;
  u8 *pool = a[0].data;
  if (count < 7) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(a[3].key, pool + 130) || !same(a[5].key, pool + 162) || !same(a[4].key, pool + 194)) FAIL(WRONG_ACCOUNT);
  u64 before = load(pool + 258), now = *a[3].lamports - RESERVE_RENT, supply = load(pool + 266);
  u64 reward = now > before ? now - before : 0, fee = fee_of(pool + 330, reward);
  /* What comes while nobody has shares is the manager's. */
  u64 tokens = reward == 0 ? 0 : supply == 0 || now == fee ? reward : mul_div(supply, fee, now - fee, 0);
  if (tokens) {
    u64 failed = token(7, tokens, 0x54, 1, 6);
    if (failed) return failed;
  }
  if (load(pool + 274) < H->clock.epoch) {
    store(H->last_epoch, supply);
    store(H->last_epoch + 8, before);
    store(pool + 274, H->clock.epoch);
  }
  store(pool + 258, now);
  store(pool + 266, supply_of(&a[5]));
  return 0;
}

u64 entrypoint(u8 *input) {
  u8 *rest;
  u64 count = parse(input, H->accounts, 16, &rest);
  if (count < 2) FAIL(NOT_ENOUGH_ACCOUNTS);
  u64 length = load(rest);
  u8 *data = rest + 8;
  const u8 *itself = data + length;
  Account *a = H->accounts;
  if (!same(a[0].owner, itself) || a[0].data_length < 611 || a[0].data[0] != 1) FAIL(WRONG_ACCOUNT);
  H->bump = a[0].data[97];
  u8 *word = (u8 *)&H->clock;
  word[0] = 'w'; word[1] = 'i'; word[2] = 't'; word[3] = 'h'; word[4] = 'd'; word[5] = 'r'; word[6] = 'a'; word[7] = 'w';
  u8 *seed = (u8 *)(HEAP + sizeof(Heap));
  store(seed, load(word));
  H->seeds[0].bytes = a[0].key;
  H->seeds[0].length = 32;
  H->seeds[1].bytes = seed;
  H->seeds[1].length = 8;
  H->seeds[2].bytes = &H->bump;
  H->seeds[2].length = 1;
  H->signer.seeds = H->seeds;
  H->signer.count = 3;
  if (sol_create_program_address(H->seeds, 3, itself, H->authority)) FAIL(WRONG_ACCOUNT);
  if (!same(H->authority, a[1].key)) FAIL(WRONG_ACCOUNT);
  if (sol_get_clock_sysvar(&H->clock)) FAIL(INVALID_ARGUMENT);
  read_tail(a[0].data);
  u8 tag = length ? data[0] : 0xff;
  if (tag == UPDATE && length == 1) return update(count);
  if (tag == DEPOSIT_SOL && length == 9) return deposit(count, load(data + 1), 0);
  if (tag == WITHDRAW_SOL && length == 9) return withdraw(count, load(data + 1), 0);
  if (tag == DEPOSIT_SOL_AT_LEAST && length == 17) return deposit(count, load(data + 1), load(data + 9));
  if (tag == WITHDRAW_SOL_AT_LEAST && length == 17) return withdraw(count, load(data + 1), load(data + 9));
  FAIL(INVALID_ARGUMENT);
}
