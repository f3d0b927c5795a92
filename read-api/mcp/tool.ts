/**
 * A tool of the MCP server: endpoints of the API under a name that an agent understands. It adds nothing to them: parameters, what is wrong
 * with them, prices and answers are the endpoints' own.
 */
export interface Tool {
  name: string
  /** What it is good for, in a sentence or two. What its parameters mean is said by the endpoints. */
  description: string
  /** The endpoint that answers, as `GET /v2/tags`; several where an argument says which: the first of them where it does not. */
  asks: string | Choice
  /** Parameters of the endpoints that the tool does not take. */
  without?: readonly string[]
}

export interface Choice {
  argument: string
  of: Readonly<Record<string, string>>
}

/** Endpoints by value of the argument that tells them apart; a tool of one endpoint has it under the empty text. */
export function choicesOf({ asks }: Tool): Readonly<Record<string, string>> {
  return typeof asks === 'string' ? { '': asks } : asks.of
}
