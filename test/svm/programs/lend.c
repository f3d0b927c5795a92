/*
 * A lending vault for tests, and of the liquidity layer below it what it calls, written after the published interface and sources of
 * Jupiter Lend. One file is loaded under the ids of both. Shares have a growing price, in 1e12, which the account Lending holds, and which
 * each act brings up to date by the supply price of the liquidity layer's reserve and by the rewards. Nobody borrows here: a reserve says
 * itself what its price is.
 */
#include "solana.h"

#define DEPOSIT 0xb6f2e15289c623f2ULL
#define REDEEM 0xe161c44695560cb8ULL
#define WITHDRAW 0x22a16d949c4612b7ULL
#define DEPOSIT_LEAST 0x77286d7661109074ULL
#define REDEEM_LEAST 0x95b8b4a638edbdebULL
#define UPDATE 0xb2e1d448bd35e118ULL
#define PRE_OPERATE 0x85489bc69b9ecd81ULL
#define OPERATE 0x872a977463d06ad9ULL
#define LOG_DEPOSIT 0x6a01ce8e3801f3b0ULL
#define LOG_WITHDRAW 0x7506bedeb3b00931ULL
#define LOG_RATES 0xd9440f933c710bdeULL
#define LOG_OPERATE 0x08ad8413475108b4ULL
#define PRECISION 1000000000000ULL
#define WHOLE 100000000000000ULL
#define MOST_REWARDS 50000000000000ULL
#define YEAR 31536000ULL
#define PERCENT 10000ULL
#define ALL (~0ULL)
enum { NOTHING = 6000, TOO_LITTLE = 6001, WRONG_ACCOUNT = 6003, BEHIND = 6006 };
/* Of the liquidity layer, and what all of them say of sums that do not come out. */
enum { MATH = 6000, NOT_THERE = 6013, PAUSED = 6027, LIMIT = 6028, NEARLY_ZERO = 6030, INSUFFICIENT = 6032, OUT_OF_BOUNDS = 6033, NO_DEPOSIT = 6038, LOCKED = 6042 };

u64 sol_log_data(const Seed *fields, u64 count);
u64 sol_try_find_program_address(const Seed *seeds, int count, const u8 *program, u8 *found, u8 *bump);

typedef struct {
  Account accounts[20];
  Account used[15];
  Meta metas[14];
  Instruction instruction;
  u8 data[112];
  Seed seeds[4];
  Signer signer;
  u64 word[2];
  u8 bump;
  u8 found[32];
  Clock clock;
  Seed field;
  u8 event[184];
  const u8 *itself;
} Heap;
#define H ((Heap *)HEAP)

APART void copy(u8 *to, const u8 *from) {
  for (u64 i = 0; i < 32; i += 8) store(to + i, load(from + i));
}

APART void use(u64 i, u64 place, u8 writable, u8 signer) {
  H->metas[i].key = H->accounts[place].key;
  H->metas[i].is_writable = writable && H->accounts[place].is_writable;
  H->metas[i].is_signer = signer;
  H->used[i] = H->accounts[place];
}

APART u64 call(u64 program, u64 count, u64 length) {
  H->instruction.program = H->accounts[program].key;
  H->instruction.accounts = H->metas;
  H->instruction.account_count = count;
  H->instruction.data = H->data;
  H->instruction.data_length = length;
  H->used[count] = H->accounts[program];
  return sol_invoke_signed_c(&H->instruction, H->used, (int)count + 1, &H->signer, 1);
}

/* An instruction of the token program on accounts at these places, eight bits each; the last one signs. */
APART u64 token(u64 tag, u64 amount, u64 places, u64 count, u64 program) {
  H->data[0] = (u8)tag;
  store(H->data + 1, amount);
  for (u64 i = 0; i < count; i++)
    use(i, (places >> (8 * (count - 1 - i))) & 255, i < count - 1 && !(tag == 12 && i == 1), i == count - 1);
  return call(program, count, tag == 12 ? 10 : 9);
}

/* Who signs: an address that this program derives of words, keys and a bump. */
APART void sign(u64 length, u64 keys, u64 first, u64 second, const u8 *bump) {
  H->seeds[0].bytes = (u8 *)H->word;
  H->seeds[0].length = length;
  H->seeds[1].bytes = keys ? H->accounts[first].key : bump;
  H->seeds[1].length = keys ? 32 : 1;
  H->seeds[2].bytes = H->accounts[second].key;
  H->seeds[2].length = 32;
  H->seeds[3].bytes = bump;
  H->seeds[3].length = 1;
  H->signer.seeds = H->seeds;
  H->signer.count = keys ? 4 : 2;
}

APART void sign_as_lending(u64 lending, u64 mint, u64 share) {
  H->word[0] = 0x00676e69646e656cULL;
  sign(7, 2, mint, share, H->accounts[lending].data + 195);
}

/* The address that may mint shares; it signs then. */
APART u64 sign_as_admin(u64 place) {
  H->word[0] = 0x5f676e69646e656cULL;
  H->word[1] = 0x6e696d6461ULL;
  sign(13, 0, 0, 0, &H->bump);
  if (sol_try_find_program_address(H->seeds, 1, H->itself, H->found, &H->bump)) return 0;
  return same(H->accounts[place].key, H->found);
}

APART void tell(u64 length) {
  H->field.bytes = H->event;
  H->field.length = length;
  sol_log_data(&H->field, 1);
}

APART void tell_flow(u64 tag, u64 keys, u64 first, u64 second) {
  store(H->event, tag);
  for (u64 i = 0; i < keys; i++) copy(H->event + 8 + 32 * i, H->accounts[0].key);
  store(H->event + 8 + 32 * keys, first);
  store(H->event + 16 + 32 * keys, second);
  tell(24 + 32 * keys);
}

/* Of 1e14, what a phase of rewards paid from one time to another. */
APART u64 paid(u64 yearly, u64 assets, u64 from, u64 to) {
  u64 rate = mul_div(yearly, WHOLE, assets, 0);
  if (rate > MOST_REWARDS) rate = MOST_REWARDS;
  return to > from ? mul_div(rate, to - from, YEAR, 0) : 0;
}

/* All ones where the sums do not come out. */
APART u64 rewards(const u8 *model, u64 assets, u64 since, u64 now) {
  u64 start = load(model + 56), end = start + load(model + 48), next = load(model + 72), amount = load(model + 80);
  if (start == 0 || now < start || assets < load(model + 40)) return 0;
  if (assets == 0) return ALL;
  u64 sum = paid(load(model + 64), assets, since > start ? since : start, now < end ? now : end);
  if (amount == 0) return sum;
  if (next == 0) return ALL;
  u64 until = end + next;
  return sum + paid(mul_div(amount, YEAR, next, 0), assets, since > end ? since : end, now < until ? now : until);
}

/* Writes the price of now down, or tells why not. */
APART u64 update(u8 *lending, const u8 *share, const u8 *reserve, const u8 *model) {
  sol_get_clock_sysvar(&H->clock);
  u64 now = H->clock.time, price = load(lending + 115), old = load(lending + 107), supply_price = load(reserve + 86);
  if (supply_price < old) FAIL(BEHIND);
  u64 assets = mul_div(price, load(share + 36), PRECISION, 0);
  u64 total = rewards(model, assets, load(lending + 123), now);
  if (total == ALL || old == 0) FAIL(MATH);
  total += mul_div(supply_price - old, WHOLE, old, 0);
  price += mul_div(price, total, WHOLE, 0);
  store(lending + 107, supply_price);
  store(lending + 115, price);
  store(lending + 123, now);
  tell_flow(LOG_RATES, 0, price, supply_price);
  return 0;
}

/* To the liquidity layer or, with all bits turned, out of it; accounts in the order in which it wants them, eight bits each. */
APART u64 operate_below(u64 supply, u64 to, u64 first, u64 rest, u64 program) {
  store(H->data, OPERATE);
  store(H->data + 8, supply);
  store(H->data + 16, supply >> 63 ? ALL : 0);
  store(H->data + 24, 0);
  store(H->data + 32, 0);
  copy(H->data + 40, H->accounts[to].key);
  copy(H->data + 72, H->accounts[to].key);
  H->data[104] = 1;
  for (u64 i = 0; i < 8; i++) use(i, (first >> (8 * (7 - i))) & 255, i == 2 || i == 4 || i == 5, i == 0);
  for (u64 i = 0; i < 6; i++) use(8 + i, (rest >> (8 * (5 - i))) & 255, i == 0, 0);
  return call(program, 14, 105);
}

APART u64 deposit(u64 count, u64 assets, u64 least) {
  Account *a = H->accounts;
  if (count < 17) FAIL(NOT_ENOUGH_ACCOUNTS);
  u8 *lending = a[5].data;
  if (!sign_as_admin(4) || !same(lending + 8, a[3].key) || !same(lending + 40, a[6].key)) FAIL(WRONG_ACCOUNT);
  if (assets == ALL) assets = load(a[1].data + 64);
  u64 before = load(a[8].data + 73);
  sign_as_lending(5, 3, 6);
  store(H->data, PRE_OPERATE);
  copy(H->data + 8, a[3].key);
  use(0, 5, 0, 1);
  use(1, 11, 0, 0);
  use(2, 8, 0, 0);
  use(3, 12, 0, 0);
  use(4, 10, 0, 0);
  use(5, 7, 1, 0);
  use(6, 15, 0, 0);
  use(7, 14, 0, 0);
  u64 failed = call(12, 8, 40);
  if (failed) return failed;
  H->data[9] = a[3].data[44];
  failed = token(12, assets, 0x01030a00, 4, 14);
  if (failed) return failed;
  failed = operate_below(assets, 11, 0x050b07030a080c09ULL, 0x0c0c0c0c0e0fULL, 12);
  if (failed) return failed;
  u64 registered = mul_div(load(a[8].data + 73) - before, load(a[7].data + 86), PRECISION, 0);
  failed = update(lending, a[6].data, a[7].data, a[13].data);
  if (failed) return failed;
  u64 shares = mul_div(registered, PRECISION, load(lending + 115), 0);
  if (shares == 0) FAIL(NOTHING);
  if (!sign_as_admin(4)) FAIL(WRONG_ACCOUNT);
  failed = token(7, shares, 0x060204, 3, 14);
  if (failed) return failed;
  tell_flow(LOG_DEPOSIT, 2, assets, shares);
  if (shares < least) FAIL(TOO_LITTLE);
  return 0;
}

APART u64 take(u64 count, u64 amount, u64 is_shares, u64 least) {
  Account *a = H->accounts;
  if (count < 18) FAIL(NOT_ENOUGH_ACCOUNTS);
  u8 *lending = a[4].data;
  if (!sign_as_admin(3) || !same(lending + 8, a[5].key) || !same(lending + 40, a[6].key)) FAIL(WRONG_ACCOUNT);
  u64 failed = update(lending, a[6].data, a[7].data, a[14].data);
  if (failed) return failed;
  u64 price = load(lending + 115), assets = amount;
  if (amount == ALL) {
    amount = load(a[1].data + 64);
    is_shares = 1;
  }
  if (is_shares) assets = mul_div(amount, price, PRECISION, 0);
  failed = token(8, mul_div(assets, PRECISION, price, 1), 0x010600, 3, 15);
  if (failed) return failed;
  sign_as_lending(4, 5, 6);
  failed = operate_below(-assets, 0, 0x040c07050a080d09ULL, 0x020d0d0d0f10ULL, 13);
  if (failed) return failed;
  tell_flow(LOG_WITHDRAW, 3, assets, mul_div(assets, PRECISION, price, 1));
  if (assets < least) FAIL(TOO_LITTLE);
  return 0;
}

/* Of the liquidity layer: a deposit is to come. */
APART u64 pre_operate(u64 count) {
  Account *a = H->accounts;
  if (count < 8) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (a[1].data[72]) FAIL(LOCKED);
  if (!same(a[2].data + 8, a[0].key) || !same(a[5].data + 40, a[4].key)) FAIL(WRONG_ACCOUNT);
  copy(a[5].data + 144, a[0].key);
  store(a[5].data + 176, H->clock.time);
  store(a[5].data + 184, load(a[4].data + 64));
  return 0;
}

/* Counts it in the position of the vault: of 1e12 of its price, what of it; or why not, in the second of the words. */
APART u64 move(u8 *position, u64 amount, u64 is_out, u64 price) {
  u64 raw = mul_div(amount, PRECISION, price, (int)is_out), held = load(position + 73), limit = load(position + 81);
  H->word[1] = position[123] ? PAUSED : raw == 0 ? INSUFFICIENT : is_out && raw > held ? MATH : 0;
  if (H->word[1]) return 0;
  u64 percent = position[105] | (position[106] << 8), movable = mul_div(held, percent, PERCENT, 0);
  if (limit) {
    u64 duration = load(position + 107), by = duration ? mul_div(movable, H->clock.time - load(position + 97), duration, 0) : 0;
    limit = limit > by ? limit - by : 0;
    if (held - movable > limit) limit = held - movable;
  }
  held = is_out ? held - raw : held + raw;
  if (is_out && held < limit) H->word[1] = LIMIT;
  u64 least = held - mul_div(held, percent, PERCENT, 0);
  if (held < load(position + 115)) limit = 0;
  else if (least > limit) limit = least;
  store(position + 73, held);
  store(position + 81, limit);
  store(position + 97, H->clock.time);
  return raw;
}

APART u64 operate(u64 count, const u8 *data) {
  Account *a = H->accounts;
  if (count < 14) FAIL(NOT_ENOUGH_ACCOUNTS);
  u8 *reserve = a[2].data;
  u64 amount = load(data + 8), is_out = amount >> 63, lying = load(a[4].data + 64);
  if (is_out) amount = -amount;
  if (a[1].data[72]) FAIL(LOCKED);
  if (!same(reserve + 8, a[3].key) || !same(reserve + 40, a[4].key) || !same(a[5].data + 8, a[0].key)) FAIL(WRONG_ACCOUNT);
  if (amount < 10) FAIL(NEARLY_ZERO);
  if (!is_out) {
    if (!same(reserve + 144, a[0].key) || load(reserve + 176) != (u64)H->clock.time) FAIL(NO_DEPOSIT);
    u64 came = lying - load(reserve + 184);
    /* A transfer may not keep a part. */
    if (came < amount || came > mul_div(amount, PERCENT + 100, PERCENT, 0)) FAIL(OUT_OF_BOUNDS);
  }
  u64 price = load(reserve + 86), raw = move(a[5].data, amount, is_out, price), all = load(reserve + 104);
  if (H->word[1]) return H->word[1];
  store(reserve + 104, !is_out ? all + raw : all > raw ? all - raw : 0);
  store(reserve + 78, H->clock.time);
  for (u64 i = 144; i < 192; i += 8) store(reserve + i, 0);
  if (is_out) {
    if (lying < amount) FAIL(NOT_THERE);
    H->word[0] = 0x746964697571696cULL;
    H->word[1] = 'y';
    sign(9, 0, 0, 0, a[1].data + 73);
    H->data[9] = a[3].data[44];
    u64 failed = token(12, amount, 0x04030801, 4, 12);
    if (failed) return failed;
  }
  store(H->event, LOG_OPERATE);
  copy(H->event + 8, a[0].key);
  copy(H->event + 40, a[3].key);
  for (u64 i = 0; i < 96; i += 8) store(H->event + 72 + i, load(data + 8 + i));
  store(H->event + 168, price);
  store(H->event + 176, load(reserve + 94));
  tell(184);
  return 0;
}

u64 entrypoint(u8 *input) {
  u8 *rest;
  u64 count = parse(input, H->accounts, 20, &rest);
  u64 length = load(rest);
  u8 *data = rest + 8;
  Account *a = H->accounts;
  H->itself = data + length;
  if (length < 8 || count < 5) FAIL(INVALID_ARGUMENT);
  u64 tag = load(data);
  sol_get_clock_sysvar(&H->clock);
  if (tag == UPDATE) return same(a[0].data + 40, a[2].key) ? update(a[0].data, a[2].data, a[3].data, a[4].data) : WRONG_ACCOUNT;
  if (!a[0].is_signer) FAIL(MISSING_SIGNATURE);
  if (tag == PRE_OPERATE && length == 40) return pre_operate(count);
  if (tag == OPERATE && length == 105) return operate(count, data);
  if (length < 16) FAIL(INVALID_ARGUMENT);
  u64 amount = load(data + 8);
  u64 least = length < 24 ? 0 : load(data + 16);
  if (tag == DEPOSIT) return deposit(count, amount, 0);
  if (tag == DEPOSIT_LEAST) return deposit(count, amount, least);
  if (tag == REDEEM) return take(count, amount, 1, 0);
  if (tag == REDEEM_LEAST) return take(count, amount, 1, least);
  if (tag == WITHDRAW) return take(count, amount, 0, 0);
  FAIL(INVALID_ARGUMENT);
}
