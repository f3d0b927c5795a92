import { readFile } from 'node:fs/promises'
import express from 'express'

/** What an answer of the API is compared with: one Express route that sends the bytes of a file from a ready buffer. */
const [file = '', port] = process.argv.slice(2)
const body = await readFile(file)
const app = express()
app.get('/list', (_request, response) => {
  response.type('application/json').send(body)
})
app.listen(Number(port), () => console.info('listening'))
