/**
 * Makes of an object file of clang (`-target bpfel`) a shared object that the virtual machine loads: code, and the names of what
 * it calls. It refuses what it does not know: constants in memory, a second section of code.
 * @see https://github.com/anza-xyz/sbpf, elf.rs
 */
const CALL = 10
const [SYMBOLS, RELOCATIONS, CODE, DYNAMIC, STRINGS] = [11, 9, 1, 6, 3]

interface Section {
  name: string
  type: number
  bytes: Buffer
  link: number
}

export function link(object: Buffer): Buffer {
  const sections = sectionsOf(object)
  const text = named(sections, '.text')
  const extra = sections.filter(
    ({ name, bytes }) => /^\.(ro)?(data|bss|text\.)/.test(name) && bytes.length > 0,
  )
  if (extra.length > 0)
    throw new Error(`there is more than code: ${extra.map(({ name }) => name).join(', ')}`)
  const symbols = symbolsOf(sections)
  const code = Buffer.from(text.bytes)
  const names: string[] = []
  const calls: { at: number; name: number }[] = []
  const relocations = sections.find(({ name }) => name === '.rel.text')?.bytes ?? Buffer.alloc(0)
  for (let i = 0; i < relocations.length; i += 16) {
    const at = Number(relocations.readBigUInt64LE(i))
    const symbol = symbols[relocations.readUInt32LE(i + 12)]
    if (relocations.readUInt32LE(i + 8) !== CALL || !symbol) throw new Error(`relocation at ${at} is no call`)
    if (symbol.section !== 0) {
      const target = symbol.value / 8 + code.readInt32LE(at + 4) + 1
      code.writeInt32LE(target - (at / 8 + 1), at + 4)
      continue
    }
    // A call of the machine: its number follows from its name when the program is loaded.
    code[at + 1] = 0x10
    code.writeInt32LE(-1, at + 4)
    if (!names.includes(symbol.name)) names.push(symbol.name)
    calls.push({ at, name: names.indexOf(symbol.name) + 1 })
  }
  const entry = symbols.find(({ name }) => name === 'entrypoint')
  if (!entry) throw new Error('there is no entrypoint')
  return write(code, entry.value, names, calls)
}

function write(
  code: Buffer,
  entry: number,
  names: readonly string[],
  calls: readonly { at: number; name: number }[],
): Buffer {
  const strings = text(['', ...names])
  const sectionNames = ['', '.text', '.dynamic', '.dynsym', '.dynstr', '.rel.dyn', '.shstrtab']
  const start = 64 + 3 * 56
  const place = layout(start, [
    code.length,
    7 * 16,
    24 * (names.length + 1),
    strings.bytes.length,
    16 * calls.length,
  ])
  const [textAt = 0, dynamicAt = 0, symbolsAt = 0, stringsAt = 0, relocationsAt = 0] = place.at
  const words = (values: readonly (number | bigint)[]) => {
    const bytes = Buffer.alloc(8 * values.length)
    values.forEach((value, i) => void bytes.writeBigUInt64LE(BigInt(value), 8 * i))
    return bytes
  }
  const symbols = Buffer.concat([
    Buffer.alloc(24),
    ...names.map((_, i) => {
      const symbol = Buffer.alloc(24)
      symbol.writeUInt32LE(strings.at[i + 1] ?? 0, 0)
      // A global function of elsewhere.
      symbol[4] = 0x12
      return symbol
    }),
  ])
  const relocations = Buffer.concat(
    calls.map(({ at, name }) => words([textAt + at, (BigInt(name) << 32n) | BigInt(CALL)])),
  )
  // SYMTAB, STRTAB, STRSZ, REL, RELSZ, RELENT, end.
  const dynamic = words([
    6,
    symbolsAt,
    5,
    stringsAt,
    10,
    strings.bytes.length,
    17,
    relocationsAt,
    18,
    relocations.length,
    19,
    16,
    0,
    0,
  ])
  const shown = text(sectionNames)
  const headersAt = Math.ceil((place.end + shown.bytes.length) / 8) * 8
  const header = (
    name: number,
    type: number,
    flags: number,
    at: number,
    size: number,
    link = 0,
    info = 0,
    entrySize = 0,
  ) => {
    const bytes = Buffer.alloc(64)
    bytes.writeUInt32LE(shown.at[name] ?? 0, 0)
    bytes.writeUInt32LE(type, 4)
    words([flags, flags ? at : 0, at, size]).copy(bytes, 8)
    bytes.writeUInt32LE(link, 40)
    bytes.writeUInt32LE(info, 44)
    words([8, entrySize]).copy(bytes, 48)
    return bytes
  }
  const headers = [
    Buffer.alloc(64),
    header(1, CODE, 6, textAt, code.length),
    header(2, DYNAMIC, 3, dynamicAt, dynamic.length, 4, 0, 16),
    header(3, SYMBOLS, 2, symbolsAt, symbols.length, 4, 1, 24),
    header(4, STRINGS, 2, stringsAt, strings.bytes.length),
    header(5, RELOCATIONS, 2, relocationsAt, relocations.length, 3, 0, 16),
    header(6, STRINGS, 0, place.end, shown.bytes.length),
  ]
  const segment = (type: number, flags: number, at: number, size: number) => {
    const bytes = Buffer.alloc(56)
    bytes.writeUInt32LE(type, 0)
    bytes.writeUInt32LE(flags, 4)
    words([at, at, at, size, size, 8]).copy(bytes, 8)
    return bytes
  }
  const out = Buffer.alloc(headersAt + 64 * headers.length)
  Buffer.from('7f454c46020101', 'hex').copy(out)
  out.writeUInt16LE(3, 16)
  out.writeUInt16LE(247, 18)
  out.writeUInt32LE(1, 20)
  words([textAt + entry, 64, headersAt]).copy(out, 24)
  ;[64, 56, 3, 64, headers.length, 6].forEach((value, i) => void out.writeUInt16LE(value, 52 + 2 * i))
  Buffer.concat([
    segment(1, 5, textAt, code.length),
    segment(1, 4, symbolsAt, place.end - symbolsAt),
    segment(2, 6, dynamicAt, dynamic.length),
  ]).copy(out, 64)
  for (const [at, bytes] of [
    [textAt, code],
    [dynamicAt, dynamic],
    [symbolsAt, symbols],
    [stringsAt, strings.bytes],
    [relocationsAt, relocations],
    [place.end, shown.bytes],
    [headersAt, Buffer.concat(headers)],
  ] as const)
    bytes.copy(out, at)
  return out
}

function layout(start: number, sizes: readonly number[]): { at: number[]; end: number } {
  const at: number[] = []
  let end = start
  for (const size of sizes) {
    at.push(end)
    end += Math.ceil(size / 8) * 8
  }
  return { at, end }
}

/** Texts that end with a zero byte, and where each begins. */
function text(values: readonly string[]): { bytes: Buffer; at: number[] } {
  const at: number[] = []
  let bytes = Buffer.alloc(0)
  for (const value of values) {
    at.push(value === '' ? 0 : bytes.length)
    if (value !== '' || bytes.length === 0) bytes = Buffer.concat([bytes, Buffer.from(`${value}\0`)])
  }
  return { bytes, at }
}

function sectionsOf(object: Buffer): Section[] {
  const [at, count, namesIn] = [
    Number(object.readBigUInt64LE(40)),
    object.readUInt16LE(60),
    object.readUInt16LE(62),
  ]
  const raw = Array.from({ length: count }, (_, i) => object.subarray(at + 64 * i, at + 64 * (i + 1)))
  const contents = (header: Buffer) => {
    const from = Number(header.readBigUInt64LE(24))
    return object.subarray(from, from + Number(header.readBigUInt64LE(32)))
  }
  const names = contents(raw[namesIn] as Buffer)
  return raw.map(header => ({
    name: textAt(names, header.readUInt32LE(0)),
    type: header.readUInt32LE(4),
    bytes: contents(header),
    link: header.readUInt32LE(40),
  }))
}

function symbolsOf(sections: readonly Section[]): { name: string; section: number; value: number }[] {
  const table = named(sections, '.symtab')
  const names = sections[table.link]?.bytes ?? Buffer.alloc(0)
  return Array.from({ length: table.bytes.length / 24 }, (_, i) => {
    const entry = table.bytes.subarray(24 * i, 24 * (i + 1))
    return {
      name: textAt(names, entry.readUInt32LE(0)),
      section: entry.readUInt16LE(6),
      value: Number(entry.readBigUInt64LE(8)),
    }
  })
}

const textAt = (bytes: Buffer, at: number) => bytes.toString('latin1', at, bytes.indexOf(0, at))

function named(sections: readonly Section[], name: string): Section {
  const found = sections.find(section => section.name === name)
  if (!found) throw new Error(`there is no section ${name}`)
  return found
}
