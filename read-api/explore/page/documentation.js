// The documentation: every operation of the OpenAPI documents, to read and to try. Where one is, is behind #.
import { decoded, h, refusal } from './dom.js'
import { fieldsOf, kindOf, resolved } from './schema.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ id: string, method: string, path: string, of: Json }} Operation */

const TIERS = ['v2', 'beta', 'alpha']
/** The same as in /explore: a key that is given in one is there in the other. */
const KEY = 'vaultlog-key'
const ROOT = new URL('.', location.href)

const main = /** @type {HTMLElement} */ (document.getElementById('main'))
const list = /** @type {HTMLElement} */ (document.getElementById('operations'))
/** @type {Map<string, Promise<Json>>} */
const documents = new Map()
const search = /** @type {HTMLInputElement} */ (
  h('input', {
    type: 'search',
    placeholder: 'Search operations ( / )',
    'aria-label': 'Search operations',
    // A document that does not come is told of by the page itself.
    oninput: () => void showList().catch(() => {}),
  })
)

/** @param {string} tier */
function documentOf(tier) {
  const known = documents.get(tier)
  if (known) return known
  const asked = fetch(new URL(`${tier}/documentation/json`, ROOT)).then(answer => {
    if (!answer.ok) throw new Error(`The document of ${tier} did not come: ${answer.status}.`)
    return answer.json()
  })
  documents.set(tier, asked)
  // Asked for again the next time.
  asked.catch(() => documents.delete(tier))
  return asked
}

/** @param {Json} document @returns {Operation[]} */
const operationsOf = document =>
  Object.entries(document['paths']).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, of]) => ({ id: of.operationId, method, path, of })),
  )

function where() {
  const [tier = '', id = ''] = location.hash.replace(/^#\/?/, '').split('/').map(decoded)
  const named = new URLSearchParams(location.search).get('urls.primaryName') ?? ''
  return { tier: [tier, named].find(one => TIERS.includes(one)) ?? 'v2', id }
}

async function showList() {
  const { tier, id } = where()
  const document = await documentOf(tier)
  if (where().tier !== tier || where().id !== id) return
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = operationsOf(document).filter(({ path, of, method }) => {
    const text = `${method} ${path} ${of.summary} ${of.tags}`.toLowerCase()
    return words.every(word => text.includes(word))
  })
  const tags = document['tags'].filter((/** @type {Json} */ tag) =>
    found.some(({ of }) => of.tags.includes(tag['name'])),
  )
  list.replaceChildren(
    h(
      'div.tiers',
      {},
      TIERS.map(name => h('a', { href: `#/${name}`, 'aria-current': name === tier && 'true' }, name)),
    ),
    ...tags.map((/** @type {Json} */ tag) =>
      h(
        'section',
        { 'aria-label': tag['name'] },
        h('h2', { title: tag['description'] }, tag['name']),
        h(
          'ul',
          {},
          found
            .filter(({ of }) => of.tags.includes(tag['name']))
            .map(one =>
              h(
                'li',
                {},
                h(
                  'a',
                  { href: `#/${tier}/${one.id}`, 'aria-current': one.id === id && 'page', title: one.path },
                  one.of.summary,
                ),
              ),
            ),
        ),
      ),
    ),
    ...(found.length === 0 ? [h('p.quiet', {}, 'No operation has these words.')] : []),
  )
}

/** @param {Json} document @param {string} tier */
const front = (document, tier) => [
  h('h1', {}, `The API, ${tier}`),
  h('p.story', {}, document['info'].description),
  h('p.quiet', {}, `${operationsOf(document).length} operations.`),
]

/** @param {Operation} operation @param {Json} document @param {string} tier */
function pageOf({ method, path, of }, document, tier) {
  const asked = /** @type {Json[]} */ (of['parameters'] ?? [])
  const body = of['requestBody']?.content['application/json']
  const inputs = asked.map(parameter => ({ parameter, input: inputOf(parameter, document) }))
  const bodyInput =
    body && h('textarea', { 'aria-label': 'Body', value: JSON.stringify(body.example, null, 2) ?? '' })
  const key = h('input', {
    type: 'password',
    autocomplete: 'off',
    placeholder: 'API key',
    'aria-label': 'API key',
    value: sessionStorage.getItem(KEY) ?? '',
  })
  const command = h('pre.command', { tabindex: 0, 'aria-label': 'Command' })
  const status = h('p', { role: 'status' })
  const answer = h('div')
  const value = (/** @type {HTMLElement | undefined} */ input) =>
    /** @type {HTMLInputElement | undefined} */ (input)?.value ?? ''
  const url = () =>
    addressOf(
      path,
      inputs.map(({ parameter, input }) => ({ parameter, value: value(input) })),
    )
  const rewrite = () => {
    const data = bodyInput
      ? ` -H 'content-type: application/json' -d '${value(bodyInput).replaceAll("'", "'\\''")}'`
      : ''
    command.textContent = `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} -H "x-api-key: $KEY"${data} "${url()}"`
  }
  /** Ended by the next one: what comes of it later is not shown in place of what was asked last. */
  let asking = new AbortController()
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault()
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    sessionStorage.setItem(KEY, value(key).trim())
    status.className = 'quiet'
    status.textContent = 'Asking'
    answer.replaceChildren()
    const asked = { key: value(key).trim(), body: bodyInput && value(bodyInput), signal }
    const { said, isOk, text } = await tried(url(), method, asked)
    if (signal.aborted) return
    status.className = isOk ? 'fresh' : 'refused'
    status.textContent = said
    if (text !== undefined) answer.replaceChildren(...textOf(text))
  }
  /** What may change something is sent by its button alone. */
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const isInField = event.target instanceof Element && event.target.matches('input, select')
    if (event.key === 'Enter' && method !== 'get' && isInField) event.preventDefault()
  }
  rewrite()
  const needed = inputs.filter(({ parameter }) => parameter['required'])
  const further = inputs.filter(({ parameter }) => !parameter['required'])
  const rowOf = (/** @type {(typeof inputs)[number]} */ { parameter, input }) =>
    parameterRow(parameter, input, document)
  return [
    h('p.back', {}, h('a', { href: `#/${tier}` }, 'All operations')),
    h('h1', {}, of['summary']),
    h('p.address', {}, h(`code.method.${method}`, {}, method.toUpperCase()), h('code', {}, path)),
    storyOf(of['description'] ?? ''),
    h(
      'div.halves',
      {},
      h(
        'form',
        { onsubmit: send, oninput: rewrite, onkeydown },
        h('h2', {}, 'Ask'),
        h(
          'div.parameters',
          { tabindex: 0, role: 'region', 'aria-label': 'Parameters' },
          needed.map(rowOf),
          bodyInput && h('div.parameter.fields', {}, bodyInput, fieldsOf(body.schema, document)),
          further.map(rowOf),
          inputs.length === 0 && !bodyInput && h('p.quiet', {}, 'Takes no parameters.'),
        ),
        h('div.send', {}, key, h('button', {}, 'Send')),
        command,
        status,
        answer,
      ),
      answerPart(of['responses'], document),
    ),
  ]
}

/** @param {Json} responses @param {Json} document */
function answerPart(responses, document) {
  const { content } = responses['200']
  return h(
    'section',
    { 'aria-label': 'Answer' },
    h('h2', {}, 'Answer'),
    h('p.quiet.statuses', {}, Object.keys(content).join(', ')),
    h(
      'div.fields',
      { tabindex: 0, role: 'region', 'aria-label': 'Fields of the answer' },
      fieldsOf(content['application/json'].schema, document),
    ),
    h(
      'details.statuses',
      {},
      h('summary', {}, 'Other answers'),
      h(
        'ul',
        {},
        Object.entries(responses)
          .filter(([status]) => status !== '200')
          .map(([status, { description }]) => h('li', {}, h('code', {}, status), ` ${description}`)),
      ),
    ),
  )
}

/** The first sentences; a long story is opened. @param {string} text */
function storyOf(text) {
  const end = text.length > 420 ? text.indexOf('. ', 260) : -1
  if (end < 0) return h('p.story', {}, text)
  const short = text.slice(0, end + 1)
  return h(
    'details.story',
    {},
    h('summary', {}, short, h('span.more', {}, ' More')),
    h('p', {}, text.slice(end + 2)),
  )
}

/** @param {Json} parameter @param {Json} document */
function inputOf(parameter, document) {
  const schema = resolved(parameter['schema'], document)
  const example = parameter['example'] ?? schema['example'] ?? ''
  const value = parameter['required'] ? [example].flat().join(',') : ''
  if (!schema['enum']) return h('input', { name: parameter['name'], value, required: parameter['required'] })
  const choices = [...(parameter['required'] ? [] : ['']), ...schema['enum']]
  return h(
    'select',
    { name: parameter['name'] },
    choices.map((/** @type {string} */ one) =>
      h('option', { value: one, selected: one === value }, one || 'default'),
    ),
  )
}

/** @param {Json} parameter @param {HTMLElement} input @param {Json} document */
function parameterRow(parameter, input, document) {
  const schema = resolved(parameter['schema'], document)
  const said = parameter['description'] ?? schema['description']
  const usual = schema['default'] === undefined ? '' : ` Default ${JSON.stringify(schema['default'])}.`
  return h(
    'div.parameter',
    {},
    h(
      'label',
      {},
      h(
        'span',
        {},
        h('code', {}, parameter['name']),
        parameter['required'] && h('span.quiet', {}, ' needed'),
      ),
      input,
    ),
    h(
      'p',
      {},
      h('span.kind', {}, schema['enum'] ? 'choice' : kindOf(schema, document)),
      ` ${said ?? ''}${usual}`,
    ),
  )
}

/** @param {string} path @param {{ parameter: Json, value: string }[]} filled */
function addressOf(path, filled) {
  const inPath = filled.filter(({ parameter }) => parameter['in'] === 'path')
  const whole = inPath.reduce(
    (so, { parameter, value }) =>
      so.replace(`{${parameter['name']}}`, encodeURIComponent(value) || `{${parameter['name']}}`),
    path,
  )
  const url = new URL(whole.slice(1), ROOT)
  for (const { parameter, value } of filled)
    if (parameter['in'] === 'query' && value !== '') url.searchParams.set(parameter['name'], value)
  return url.href.replaceAll('%7B', '{').replaceAll('%7D', '}').replaceAll('%2C', ',')
}

/** @param {string} url @param {string} method @param {{ key: string, body: string | undefined, signal: AbortSignal }} asked */
async function tried(url, method, { key, body, signal }) {
  try {
    const answer = await fetch(url, {
      method: method.toUpperCase(),
      signal,
      headers: {
        ...(key ? { 'x-api-key': key } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    })
    const credits = answer.headers.get('x-credits-used')
    const block = answer.headers.get('x-as-of-block')
    const said = [`${answer.status} ${answer.statusText}`, credits && `${credits} credits`, block]
    return { said: said.filter(Boolean).join(' · '), isOk: answer.ok, text: await answer.text() }
  } catch (error) {
    return { said: /** @type {Error} */ (error).message, isOk: false }
  }
}

/** As many characters of an answer as are shown. */
const MOST_TEXT = 200_000

/** @param {string} text of an answer */
function textOf(text) {
  const whole = pretty(text)
  const isCut = whole.length > MOST_TEXT
  const count = (/** @type {number} */ characters) => characters.toLocaleString('en')
  return [
    isCut && h('p.quiet', {}, `The first ${count(MOST_TEXT)} of ${count(whole.length)} characters.`),
    h('pre', { tabindex: 0, 'aria-label': 'Body of the answer' }, whole.slice(0, MOST_TEXT)),
  ].filter(part => part !== false)
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** How often a page was gone to: what comes for one that was left is not shown. */
let visits = 0

async function show() {
  const visit = ++visits
  const { tier, id } = where()
  main.setAttribute('aria-busy', 'true')
  if (!main.querySelector('h1')) main.replaceChildren(h('p.quiet', {}, 'Loading'))
  try {
    const document_ = await documentOf(tier)
    if (visit !== visits) return
    const operation = operationsOf(document_).find(one => one.id === id)
    document.body.classList.toggle('is-reading', operation !== undefined)
    document.title = operation ? `${operation.of['summary']} · Vaultlog API` : 'Vaultlog API'
    main.replaceChildren(...(operation ? pageOf(operation, document_, tier) : front(document_, tier)))
    if (operation && visit > 1) main.focus({ preventScroll: true })
    await showList()
    list.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' })
  } catch (error) {
    if (visit === visits) main.replaceChildren(refusal(/** @type {Error} */ (error)))
  } finally {
    if (visit === visits) main.removeAttribute('aria-busy')
  }
}

document.querySelector('.skip')?.addEventListener('click', event => {
  event.preventDefault()
  main.focus()
})
document
  .getElementById('search')
  ?.append(
    h('form', { role: 'search', onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, search),
  )
document.addEventListener('keydown', event => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
  if (event.key !== '/' || isTyping) return
  event.preventDefault()
  document.body.classList.remove('is-reading')
  search.focus()
})
search.addEventListener('focus', () => document.body.classList.remove('is-reading'))
window.addEventListener('hashchange', () => {
  void show()
  window.scrollTo(0, 0)
})
void show()
