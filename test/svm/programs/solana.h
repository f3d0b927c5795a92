/* What a program of the chain is given and may call, after the published interface of the virtual machine. */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

typedef struct { const u8 *key; u8 is_writable; u8 is_signer; } Meta;
typedef struct { const u8 *program; Meta *accounts; u64 account_count; const u8 *data; u64 data_length; } Instruction;
typedef struct {
  const u8 *key; u64 *lamports; u64 data_length; u8 *data; const u8 *owner; u64 rent_epoch;
  u8 is_signer; u8 is_writable; u8 is_executable;
} Account;
typedef struct { const u8 *bytes; u64 length; } Seed;
typedef struct { const Seed *seeds; u64 count; } Signer;
typedef struct { u64 slot; u64 epoch_start; u64 epoch; u64 leader_epoch; u64 time; } Clock;

u64 sol_invoke_signed_c(const Instruction *instruction, const Account *accounts, int account_count, const Signer *signers, int signer_count);
u64 sol_create_program_address(const Seed *seeds, int count, const u8 *program, u8 *found);
u64 sol_get_clock_sysvar(Clock *clock);

#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline, unused))
/* The compiler's stack has 512 bytes: larger things are kept here. */
#define HEAP 0x300000000ULL
#define FAIL(code) return (code)

/* Custom errors, and two of the machine's own. */
#define INVALID_ARGUMENT (2ULL << 32)
#define MISSING_SIGNATURE (8ULL << 32)
#define NOT_ENOUGH_ACCOUNTS (11ULL << 32)

INLINE u64 load(const u8 *at) { return *(const u64 *)at; }
INLINE void store(u8 *at, u64 value) { *(u64 *)at = value; }
APART int same(const u8 *a, const u8 *b) {
  return load(a) == load(b) && load(a + 8) == load(b + 8) && load(a + 16) == load(b + 16) && load(a + 24) == load(b + 24);
}

/* Accounts of the input, at most `most`; what follows them in `rest`. */
INLINE u64 parse(u8 *input, Account *accounts, u64 most, u8 **rest) {
  u64 count = load(input);
  u8 *at = input + 8;
  if (count > most) return 0;
  for (u64 i = 0; i < count; i++) {
    if (*at != 0xff) {
      accounts[i] = accounts[*at];
      at += 8;
      continue;
    }
    Account *a = &accounts[i];
    a->is_signer = at[1];
    a->is_writable = at[2];
    a->is_executable = at[3];
    a->key = at + 8;
    a->owner = at + 40;
    a->lamports = (u64 *)(at + 72);
    a->data_length = load(at + 80);
    a->data = at + 88;
    at += 88 + a->data_length + 10240;
    at = (u8 *)(((u64)at + 7) & ~7ULL);
    a->rent_epoch = load(at);
    at += 8;
  }
  *rest = at;
  return count;
}

/* a × b / c, rounded down or up; all ones where that does not fit 64 bits. */
APART u64 mul_div(u64 a, u64 b, u64 c, int up) {
  u64 al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
  u64 low = al * bl, m1 = ah * bl, m2 = al * bh, high = ah * bh;
  u64 middle = (low >> 32) + (m1 & 0xffffffff) + (m2 & 0xffffffff);
  high += (m1 >> 32) + (m2 >> 32) + (middle >> 32);
  low = (low & 0xffffffff) | (middle << 32);
  if (high >= c) return ~0ULL;
  u64 quotient = 0, rest = high;
  for (int i = 0; i < 64; i++) {
    u64 carry = rest >> 63;
    rest = (rest << 1) | (low >> 63);
    low <<= 1;
    quotient <<= 1;
    if (carry || rest >= c) {
      rest -= c;
      quotient |= 1;
    }
  }
  return quotient + (up && rest ? 1 : 0);
}
