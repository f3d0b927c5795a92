/*
 * Kamino's vaults, and as much of its lending markets and farms as they call or their depositors use, for tests: written after the published
 * interfaces and sources. One file is loaded under the ids of all three programs. Reserves are reckoned in whole base units, as they
 * stand: no interest is brought up to date here.
 */
#include "solana.h"

#define DEPOSIT 0xb6f2e15289c623f2ULL
#define BUY 0xeaebda01123d0666ULL
#define WITHDRAW 0x22a16d949c4612b7ULL
#define SELL 0xad837f01a485e633ULL
#define WITHDRAW_AVAILABLE 0x3922dcaa9b708313ULL
#define REDEEM 0x1ddc8eb97db575eaULL
#define INITIALIZE_USER 0xfe267a3cfab9116fULL
#define STAKE 0x6cb3d1c812cab0ceULL
#define UNSTAKE 0xe1327ccd2a6b5f5aULL
#define TAKE_OUT 0x438424dc31bb6624ULL
#define GIVE 0x2f632d3549d7b141ULL
#define TAKE_FROM_ALL 0x4e7c4f56fa805216ULL
#define USER_STATE 0x7ebaa74cf955b148ULL
/* What a program tells by calling itself. */
#define TOLD 0x1d9acb512ea545e4ULL
#define USER_BALANCE 0x0e7aae24d4acc7caULL
#define DEPOSIT_RESULT 0xcc7f675804dc407bULL
#define SHARES_TO_WITHDRAW 0xc63f44a6f5a0dc7cULL
#define WITHDRAW_RESULT 0x266531c4e70fbf14ULL
/* Words that addresses are derived from. */
#define AUTHORIT 0x7469726f68747561ULL
#define EVENT 0x5f746e6576655f5fULL
#define LMA 0x616d6cULL
#define USER 0x72657375ULL

#define SCALE 1000000000000000000ULL
#define USER_SIZE 920
#define USER_RENT ((128 + USER_SIZE) * 6960ULL)
#define ALLOCATIONS 25
enum { BELOW_MINIMUM_WITHDRAWAL = 7004, WRONG_RESERVE = 7010, WRONG_ACCOUNT = 7017, BELOW_MINIMUM_DEPOSIT = 7026, NOTHING = 7038, NO_SHARES = 7040 };

u64 sol_try_find_program_address(const Seed *seeds, int count, const u8 *program, u8 *found, u8 *bump);

typedef struct {
  Account accounts[80];
  Account used[14];
  Meta metas[13];
  Instruction instruction;
  u8 data[64];
  Seed seeds[4];
  Signer signer;
  u64 word[3];
  u64 wide[2];
  u64 ctokens;
  Clock clock;
  u8 bump;
  u8 found[32];
  const u8 *itself;
} Heap;
#define H ((Heap *)HEAP)

/* a × b, the low half first. */
APART void multiply(u64 a, u64 b) {
  u64 al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
  u64 low = al * bl, m1 = ah * bl, m2 = al * bh;
  u64 middle = (low >> 32) + (m1 & 0xffffffff) + (m2 & 0xffffffff);
  H->wide[0] = (low & 0xffffffff) | (middle << 32);
  H->wide[1] = ah * bh + (m1 >> 32) + (m2 >> 32) + (middle >> 32);
}

/* Of 128 bits, by 10^18. */
APART u64 unscaled(const u8 *at) {
  u64 rest = load(at + 8), low = load(at), quotient = 0;
  for (int i = 0; i < 64; i++) {
    u64 carry = rest >> 63;
    rest = (rest << 1) | (low >> 63);
    low <<= 1;
    quotient <<= 1;
    if (carry || rest >= SCALE) {
      rest -= SCALE;
      quotient |= 1;
    }
  }
  return quotient;
}

APART void add(u8 *at) {
  u64 low = load(at) + H->wide[0];
  store(at + 8, load(at + 8) + H->wide[1] + (low < H->wide[0]));
  store(at, low);
}

APART void subtract(u8 *at) {
  u64 low = load(at);
  store(at + 8, load(at + 8) - H->wide[1] - (low < H->wide[0]));
  store(at, low - H->wide[0]);
}

/* Of a number with 60 fractional bits, the whole. */
INLINE u64 whole(const u8 *at) { return (load(at) >> 60) | (load(at + 8) << 4); }

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

/* Lets the address that this program derives of a word and keys sign. */
APART u64 sign(u64 length, const u8 *first, const u8 *second) {
  u64 count = 1;
  H->seeds[0].bytes = (u8 *)H->word;
  H->seeds[0].length = length;
  if (first) {
    H->seeds[count].bytes = first;
    H->seeds[count++].length = 32;
  }
  if (second) {
    H->seeds[count].bytes = second;
    H->seeds[count++].length = 32;
  }
  u64 failed = sol_try_find_program_address(H->seeds, (int)count, H->itself, H->found, &H->bump);
  H->seeds[count].bytes = &H->bump;
  H->seeds[count].length = 1;
  H->signer.seeds = H->seeds;
  H->signer.count = count + 1;
  return failed;
}

APART u64 sign_as_authority_of(const u8 *key) {
  H->word[0] = AUTHORIT;
  H->word[1] = 'y';
  return sign(9, key, 0);
}

/* An instruction of the token program on accounts at these places, eight bits each; the last one signs. */
APART u64 token(u64 tag, u64 amount, u64 places, u64 count, u64 program) {
  H->data[0] = (u8)tag;
  store(H->data + 1, amount);
  for (u64 i = 0; i < count; i++)
    use(i, (places >> (8 * (count - 1 - i))) & 255, i < count - 1 && !(tag == 12 && i == 1), i == count - 1);
  return call(program, count, tag == 12 ? 10 : 9);
}

APART u64 tell(u64 place, u64 tag, u64 count, const u64 *values) {
  store(H->data, TOLD);
  store(H->data + 8, tag);
  for (u64 i = 0; i < count; i++) store(H->data + 16 + 8 * i, values[i]);
  H->word[0] = EVENT;
  H->word[1] = AUTHORIT;
  H->word[2] = 'y';
  u64 failed = sign(17, 0, 0);
  if (failed) return failed;
  use(0, place, 0, 1);
  return call(place + 1, 1, 16 + 8 * count);
}

/* Asset base units that so many shares of a reserve pay. */
APART u64 liquidity(const u8 *reserve, u64 ctokens) {
  u64 supplied = load(reserve + 224) + whole(reserve + 232) - whole(reserve + 344) - whole(reserve + 360) - whole(reserve + 376);
  u64 supply = load(reserve + 2592);
  return supplied && supply ? mul_div(ctokens, supplied, supply, 0) : ctokens;
}

/* What the vault's shares are worth together; all ones where its reserves do not follow from `at` on. */
APART u64 worth(const u8 *vault, u64 at, u64 count) {
  u64 sum = load(vault + 224);
  for (u64 i = 0; i < ALLOCATIONS; i++) {
    const u8 *allocation = vault + 312 + i * 2160;
    if (!(load(allocation) | load(allocation + 8) | load(allocation + 16) | load(allocation + 24))) continue;
    if (at >= count || !same(H->accounts[at].key, allocation)) return ~0ULL;
    sum += liquidity(H->accounts[at].data, load(allocation + 1104));
    at++;
  }
  return sum - whole(vault + 296);
}

INLINE void store_whole(u8 *at, u64 value) {
  store(at, value << 60);
  store(at + 8, value >> 4);
}

/* Hands out rewards that are due; before anything else is done with a vault. */
APART void reward(u8 *vault) {
  sol_get_clock_sysvar(&H->clock);
  u64 since = load(vault + 58752), left = load(vault + 58760), now = H->clock.time;
  if (since == 0 || now <= since) return;
  u64 due = load(vault + 58744) * (now - since);
  if (due > left) due = left;
  store(vault + 224, load(vault + 224) + due);
  store(vault + 58760, left - due);
  store(vault + 58752, now);
}

/* Charges what is due for keeping the vault, and of what it earned; what is left of `all`. */
APART u64 charge(u8 *vault, u64 all) {
  u64 since = load(vault + 272), before = whole(vault + 280), now = H->clock.time;
  if (since == 0) return all;
  u64 kept = mul_div(mul_div(before, load(vault + 264), 10000, 0), now > since ? now - since : 0, 31556926, 0);
  u64 fees = kept + (all > before ? mul_div(all - before, load(vault + 256), 10000, 0) : 0);
  if (fees > all) fees = all;
  store_whole(vault + 296, whole(vault + 296) + fees);
  store(vault + 272, now);
  return all - fees;
}

APART u64 deposit(u64 count, u64 asked) {
  Account *a = H->accounts;
  u8 *vault = a[1].data;
  if (count < 13) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(vault + 120, a[2].key) || !same(vault + 80, a[3].key) || !same(vault + 40, a[4].key) || !same(vault + 184, a[5].key))
    FAIL(WRONG_ACCOUNT);
  reward(vault);
  u64 held = load(a[6].data + 64), issued = load(vault + 232), all = worth(vault, 13, count);
  if (all == ~0ULL) FAIL(WRONG_RESERVE);
  all = charge(vault, all);
  u64 values[3];
  values[0] = held;
  u64 failed = tell(11, USER_BALANCE, 1, values);
  if (failed) return failed;
  if (asked > held) asked = held;
  u64 shares = issued ? mul_div(issued, asked, all, 0) : asked;
  u64 assets = issued ? mul_div(all, shares, issued, 1) : shares;
  if (assets < load(vault + 58408)) FAIL(BELOW_MINIMUM_DEPOSIT);
  if (shares == 0) FAIL(NOTHING);
  values[0] = shares;
  values[1] = assets;
  values[2] = 0;
  failed = tell(11, DEPOSIT_RESULT, 3, values);
  if (failed) return failed;
  H->data[9] = a[3].data[44];
  failed = token(12, assets, 0x06030200, 4, 9);
  if (failed) return failed;
  failed = sign_as_authority_of(a[1].key);
  if (failed) return failed;
  failed = token(7, shares, 0x050704, 3, 10);
  if (failed) return failed;
  store(vault + 224, load(vault + 224) + assets);
  store(vault + 232, issued + shares);
  store_whole(vault + 280, all + assets);
  return 0;
}

/* Takes what is missing out of a reserve; tells how much came of it, and of how many of its shares. */
APART u64 disinvest(u8 *vault, u64 missing, u64 *received) {
  Account *a = H->accounts;
  u8 *allocation = 0;
  for (u64 i = 0; i < ALLOCATIONS; i++)
    if (same(vault + 312 + i * 2160, a[15].key)) allocation = vault + 312 + i * 2160;
  if (!allocation || !same(allocation + 32, a[16].key)) FAIL(WRONG_RESERVE);
  u64 supplied = liquidity(a[15].data, load(a[15].data + 2592)), owned = load(allocation + 1104);
  u64 ctokens = supplied ? mul_div(missing, load(a[15].data + 2592), supplied, 1) : missing;
  if (ctokens > owned) ctokens = owned;
  u64 before = load(a[3].data + 64);
  store(H->data, REDEEM);
  store(H->data + 8, ctokens);
  use(0, 4, 0, 1);
  use(1, 17, 0, 0);
  use(2, 15, 1, 0);
  use(3, 18, 0, 0);
  use(4, 6, 0, 0);
  use(5, 20, 1, 0);
  use(6, 19, 1, 0);
  use(7, 16, 1, 0);
  use(8, 3, 1, 0);
  use(9, 21, 0, 0);
  use(10, 9, 0, 0);
  use(11, 22, 0, 0);
  u64 failed = call(11, 12, 16);
  if (failed) return failed;
  store(allocation + 1104, owned - ctokens);
  H->ctokens = ctokens;
  *received = load(a[3].data + 64) - before;
  return 0;
}

APART u64 withdraw(u64 count, u64 asked, u64 first) {
  Account *a = H->accounts;
  u8 *vault = a[1].data;
  if (count < first) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(vault + 120, a[3].key) || !same(vault + 40, a[4].key) || !same(vault + 80, a[6].key) || !same(vault + 184, a[8].key))
    FAIL(WRONG_ACCOUNT);
  reward(vault);
  u64 held = load(a[7].data + 64), issued = load(vault + 232), available = load(vault + 224), all = worth(vault, first, count);
  if (all == ~0ULL) FAIL(WRONG_RESERVE);
  all = charge(vault, all);
  if (asked > held) asked = held;
  u64 total = issued ? mul_div(all, asked, issued, 0) : 0, sent = available < total ? available : total, received = 0, more = 0;
  if (total == 0) FAIL(NO_SHARES);
  H->ctokens = 0;
  u64 failed = sign_as_authority_of(a[1].key);
  if (failed) return failed;
  if (first > 14 && sent < total) {
    failed = disinvest(vault, total - sent, &received);
    if (failed) return failed;
    more = received < total - sent ? received : total - sent;
  }
  if (sent + more <= load(vault + 58416)) FAIL(BELOW_MINIMUM_WITHDRAWAL);
  u64 burnt = mul_div(sent + more, issued, all, 1);
  if (burnt > asked) burnt = asked;
  failed = token(8, burnt, 0x070800, 3, 10);
  if (failed) return failed;
  H->data[9] = a[6].data[44];
  failed = token(12, sent + more, 0x03060504, 4, 9);
  if (failed) return failed;
  store(vault + 224, available - sent + received - more);
  store(vault + 232, issued - burnt);
  store_whole(vault + 280, all - sent - more);
  u64 values[4];
  values[0] = asked;
  values[1] = held;
  u64 events = first > 14 ? 23 : 12;
  failed = tell(events, SHARES_TO_WITHDRAW, 2, values);
  if (failed) return failed;
  values[0] = burnt;
  values[1] = sent;
  values[2] = H->ctokens;
  values[3] = more;
  return tell(events, WITHDRAW_RESULT, 4, values);
}

/* Of a lending market: pays for shares of a reserve. */
APART u64 redeem(u64 count, u64 ctokens) {
  Account *a = H->accounts;
  u8 *reserve = a[2].data;
  if (count < 12) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(reserve + 32, a[1].key) || !same(reserve + 128, a[4].key) || !same(reserve + 160, a[6].key) || !same(reserve + 2560, a[5].key))
    FAIL(WRONG_ACCOUNT);
  u64 assets = liquidity(reserve, ctokens);
  if (assets > load(reserve + 224)) FAIL(NOTHING);
  H->word[0] = LMA;
  u64 failed = sign(3, a[1].key, 0);
  if (failed) return failed;
  failed = token(8, ctokens, 0x070500, 3, 9);
  if (failed) return failed;
  H->data[9] = a[4].data[44];
  failed = token(12, assets, 0x06040803, 4, 10);
  if (failed) return failed;
  store(reserve + 224, load(reserve + 224) - assets);
  store(reserve + 2592, load(reserve + 2592) - ctokens);
  return 0;
}

APART void copy(u8 *to, const u8 *from) {
  for (u64 i = 0; i < 32; i += 8) store(to + i, load(from + i));
}

APART u64 initialize_user(u64 count) {
  Account *a = H->accounts;
  if (count < 8) FAIL(NOT_ENOUGH_ACCOUNTS);
  H->word[0] = USER;
  u64 failed = sign(4, a[5].key, a[3].key);
  if (failed) return failed;
  *(u32 *)H->data = 0;
  store(H->data + 4, USER_RENT);
  store(H->data + 12, USER_SIZE);
  copy(H->data + 20, H->itself);
  use(0, 1, 1, 1);
  use(1, 4, 1, 1);
  failed = call(6, 2, 52);
  if (failed) return failed;
  u8 *user = a[4].data;
  store(user, USER_STATE);
  store(user + 8, load(a[5].data + 7240));
  copy(user + 16, a[5].key);
  copy(user + 48, a[2].key);
  store(user + 472, H->bump);
  copy(user + 480, a[3].key);
  store(a[5].data + 7240, load(a[5].data + 7240) + 1);
  return 0;
}

APART u64 stake(u64 amount) {
  Account *a = H->accounts;
  if (!same(a[2].data + 7256, a[3].key) || !same(a[2].data + 72, a[5].key)) FAIL(WRONG_ACCOUNT);
  u64 held = load(a[4].data + 64);
  if (amount > held) amount = held;
  if (amount == 0) FAIL(NOTHING);
  u64 failed = token(3, amount, 0x040300, 3, 7);
  if (failed) return failed;
  multiply(amount, SCALE);
  add(a[1].data + 408);
  add(a[2].data + 7408);
  store(a[2].data + 7248, load(a[2].data + 7248) + amount);
  return 0;
}

APART u64 unstake(u64 low, u64 high) {
  Account *a = H->accounts;
  u8 *active = a[1].data + 408;
  if (high > load(active + 8) || (high == load(active + 8) && low > load(active))) {
    low = load(active);
    high = load(active + 8);
  }
  H->wide[0] = low;
  H->wide[1] = high;
  subtract(active);
  subtract(a[2].data + 7408);
  add(a[1].data + 448);
  add(a[2].data + 7424);
  u64 amount = unscaled((u8 *)H->wide);
  store(a[2].data + 7248, load(a[2].data + 7248) - amount);
  store(a[2].data + 7440, load(a[2].data + 7440) + amount);
  return 0;
}

APART u64 take_out(void) {
  Account *a = H->accounts;
  if (!same(a[2].data + 7256, a[4].key)) FAIL(WRONG_ACCOUNT);
  u64 amount = unscaled(a[1].data + 448), failed = sign_as_authority_of(a[2].key);
  if (failed || amount == 0) return failed;
  failed = token(3, amount, 0x040305, 3, 6);
  if (failed) return failed;
  multiply(amount, SCALE);
  subtract(a[1].data + 448);
  subtract(a[2].data + 7424);
  store(a[2].data + 7440, load(a[2].data + 7440) - amount);
  return 0;
}

/* What counts of a stake goes to the stake of another owner. */
APART u64 give(u64 count) {
  Account *a = H->accounts;
  if (count < 9) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(a[3].data + 48, a[0].key) || !same(a[4].data + 48, a[2].key)) FAIL(WRONG_ACCOUNT);
  if (!same(a[3].data + 16, a[5].key) || !same(a[4].data + 16, a[5].key)) FAIL(WRONG_ACCOUNT);
  H->wide[0] = load(a[3].data + 408);
  H->wide[1] = load(a[3].data + 416);
  add(a[4].data + 408);
  subtract(a[3].data + 408);
  return 0;
}

/* The farm's authority takes of what counts: everybody has as many parts of less. */
APART u64 take_from_all(u64 count, u64 amount) {
  Account *a = H->accounts;
  if (count < 6) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(a[1].data + 7368, a[0].key) || !same(a[1].data + 7256, a[3].key)) FAIL(WRONG_ACCOUNT);
  u64 failed = sign_as_authority_of(a[1].key);
  if (failed) return failed;
  failed = token(3, amount, 0x030204, 3, 5);
  if (failed) return failed;
  store(a[1].data + 7248, load(a[1].data + 7248) - amount);
  return 0;
}

APART u64 farm(u64 tag, u64 count, const u8 *data) {
  Account *a = H->accounts;
  if (count < (tag == STAKE ? 8 : tag == UNSTAKE ? 4 : 7)) FAIL(NOT_ENOUGH_ACCOUNTS);
  if (!same(a[1].data + 48, a[0].key) || !same(a[1].data + 16, a[2].key)) FAIL(WRONG_ACCOUNT);
  if (tag == STAKE) return stake(load(data + 8));
  if (tag == UNSTAKE) return unstake(load(data + 8), load(data + 16));
  return take_out();
}

u64 entrypoint(u8 *input) {
  u8 *rest;
  u64 count = parse(input, H->accounts, 80, &rest);
  u64 length = load(rest);
  u8 *data = rest + 8;
  H->itself = data + length;
  if (length < 8 || count < 1) FAIL(INVALID_ARGUMENT);
  u64 tag = load(data);
  if (!H->accounts[0].is_signer) FAIL(MISSING_SIGNATURE);
  if (tag == TOLD) return 0;
  if (tag == INITIALIZE_USER) return initialize_user(count);
  if (tag == GIVE) return give(count);
  if (tag == TAKE_FROM_ALL && length >= 16) return take_from_all(count, load(data + 8));
  if ((tag == STAKE && length >= 16) || (tag == UNSTAKE && length >= 24) || tag == TAKE_OUT) return farm(tag, count, data);
  if (length < 16) FAIL(INVALID_ARGUMENT);
  u64 amount = load(data + 8);
  if (tag == DEPOSIT || tag == BUY) return deposit(count, amount);
  if (tag == WITHDRAW || tag == SELL) return withdraw(count, amount, 25);
  if (tag == WITHDRAW_AVAILABLE) return withdraw(count, amount, 14);
  if (tag == REDEEM) return redeem(count, amount);
  FAIL(INVALID_ARGUMENT);
}
