/*
 * A lending vault for tests, written after the published interface and sources of Jupiter Lend: shares of a growing price, in 1e12, which
 * the account Lending holds, and which each act brings up to date by the supply price of the liquidity layer's reserve and by the rewards.
 * It lends to nobody: its assets lie in the account that is called vault, which its own PDA owns, and the reserve says itself what its price is.
 */
#include "solana.h"

#define DEPOSIT 0xb6f2e15289c623f2ULL
#define REDEEM 0xe161c44695560cb8ULL
#define WITHDRAW 0x22a16d949c4612b7ULL
#define DEPOSIT_LEAST 0x77286d7661109074ULL
#define REDEEM_LEAST 0x95b8b4a638edbdebULL
#define UPDATE 0xb2e1d448bd35e118ULL
#define LOG_DEPOSIT 0x6a01ce8e3801f3b0ULL
#define LOG_WITHDRAW 0x7506bedeb3b00931ULL
#define LOG_RATES 0xd9440f933c710bdeULL
#define PRECISION 1000000000000ULL
#define WHOLE 100000000000000ULL
#define MOST_REWARDS 50000000000000ULL
#define YEAR 31536000ULL
enum { NOTHING = 6000, TOO_LITTLE = 6001, WRONG_ACCOUNT = 6003, BEHIND = 6006 };

u64 sol_log_data(const Seed *fields, u64 count);
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
  Clock clock;
  Seed field;
  u8 event[128];
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

APART void tell(u64 tag, u64 keys, u64 first, u64 second) {
  u8 *at = H->event;
  store(at, tag);
  at += 8;
  for (u64 i = 0; i < keys; i++)
    for (u64 j = 0; j < 4; j++, at += 8) store(at, load(H->accounts[0].key + 8 * j));
  store(at, first);
  store(at + 8, second);
  H->field.bytes = H->event;
  H->field.length = 24 + 32 * keys;
  sol_log_data(&H->field, 1);
}

/* Of 1e14, what a phase of rewards paid from one time to another. */
APART u64 paid(u64 yearly, u64 assets, u64 from, u64 to) {
  u64 rate = mul_div(yearly, WHOLE, assets, 0);
  if (rate > MOST_REWARDS) rate = MOST_REWARDS;
  return to > from ? mul_div(rate, to - from, YEAR, 0) : 0;
}

APART u64 rewards(const u8 *model, u64 assets, u64 since, u64 now) {
  u64 start = load(model + 56), end = start + load(model + 48), next = load(model + 72), amount = load(model + 80);
  if (start == 0 || now < start || assets == 0 || assets < load(model + 40)) return 0;
  u64 sum = paid(load(model + 64), assets, since > start ? since : start, now < end ? now : end);
  if (amount == 0 || next == 0) return sum;
  u64 until = end + next;
  return sum + paid(mul_div(amount, YEAR, next, 0), assets, since > end ? since : end, now < until ? now : until);
}

/* Writes the price of now down; 0 where the reserve is behind. */
APART u64 update(u8 *lending, const u8 *share, const u8 *reserve, const u8 *model) {
  sol_get_clock_sysvar(&H->clock);
  u64 now = H->clock.time, price = load(lending + 115), old = load(lending + 107), supply_price = load(reserve + 86);
  if (supply_price < old || old == 0) return 0;
  u64 assets = mul_div(price, load(share + 36), PRECISION, 0);
  u64 total = rewards(model, assets, load(lending + 123), now) + mul_div(supply_price - old, WHOLE, old, 0);
  price += mul_div(price, total, WHOLE, 0);
  store(lending + 107, supply_price);
  store(lending + 115, price);
  store(lending + 123, now);
  tell(LOG_RATES, 0, price, supply_price);
  return price;
}

APART u64 deposit(u64 count, u64 assets, u64 least) {
  Account *a = H->accounts;
  if (count < 17) FAIL(NOT_ENOUGH_ACCOUNTS);
  u8 *lending = a[5].data;
  if (!same(a[4].key, H->admin) || !same(lending + 8, a[3].key) || !same(lending + 40, a[6].key)) FAIL(WRONG_ACCOUNT);
  if (assets == ~0ULL) assets = load(a[1].data + 64);
  H->data[9] = a[3].data[44];
  u64 before = load(a[10].data + 64);
  u64 failed = token(12, assets, 0x0a31, 4, 14);
  if (failed) return failed;
  u64 price = update(lending, a[6].data, a[7].data, a[13].data);
  if (price == 0) FAIL(BEHIND);
  /* A fee of the transfer did not come. */
  u64 shares = mul_div(load(a[10].data + 64) - before, PRECISION, price, 0);
  if (shares == 0) FAIL(NOTHING);
  failed = token(7, shares, 0x426, 3, 14);
  if (failed) return failed;
  tell(LOG_DEPOSIT, 2, assets, shares);
  if (shares < least) FAIL(TOO_LITTLE);
  return 0;
}

APART u64 take(u64 count, u64 amount, u64 is_shares, u64 least) {
  Account *a = H->accounts;
  if (count < 18) FAIL(NOT_ENOUGH_ACCOUNTS);
  u8 *lending = a[4].data;
  if (!same(a[3].key, H->admin) || !same(lending + 8, a[5].key) || !same(lending + 40, a[6].key)) FAIL(WRONG_ACCOUNT);
  u64 price = update(lending, a[6].data, a[7].data, a[14].data), shares = amount, assets = amount;
  if (price == 0) FAIL(BEHIND);
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
  failed = token(12, assets, 0x325a, 4, 15);
  if (failed) return failed;
  tell(LOG_WITHDRAW, 3, assets, shares);
  if (assets < least) FAIL(TOO_LITTLE);
  return 0;
}

u64 entrypoint(u8 *input) {
  u8 *rest;
  u64 count = parse(input, H->accounts, 20, &rest);
  u64 length = load(rest);
  u8 *data = rest + 8;
  const u8 *itself = data + length;
  if (length < 8 || (length < 16 && load(data) != UPDATE)) FAIL(INVALID_ARGUMENT);
  if (load(data) == UPDATE) {
    if (count < 5) FAIL(NOT_ENOUGH_ACCOUNTS);
    Account *a = H->accounts;
    if (!same(a[0].data + 40, a[2].key)) FAIL(WRONG_ACCOUNT);
    if (update(a[0].data, a[2].data, a[3].data, a[4].data) == 0) FAIL(BEHIND);
    return 0;
  }
  if (count < 7) FAIL(NOT_ENOUGH_ACCOUNTS);
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
  u64 least = length < 24 ? 0 : load(data + 16);
  if (tag == DEPOSIT) return deposit(count, amount, 0);
  if (tag == DEPOSIT_LEAST) return deposit(count, amount, least);
  if (tag == REDEEM) return take(count, amount, 1, 0);
  if (tag == REDEEM_LEAST) return take(count, amount, 1, least);
  if (tag == WITHDRAW) return take(count, amount, 0, 0);
  FAIL(INVALID_ARGUMENT);
}
