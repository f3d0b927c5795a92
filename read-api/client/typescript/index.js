import createFetchClient from 'openapi-fetch'

export function createClient({ baseUrl, apiKey, headers, ...options }) {
  return createFetchClient({ ...options, baseUrl, headers: { 'x-api-key': apiKey, ...headers } })
}
