import { expect, test } from "vitest"
import { scrubSecrets } from "./scrub-secrets.ts"

const KEY = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

test.each([
  ["the key itself", `bad key ${KEY}.`],
  ["its beginning", `bad key ${KEY.slice(0, 10)}...`],
  ["the key in a URL", `GET /x?token=${encodeURIComponent(KEY)}&a=1`],
  ["a bearer token", "Authorization: Bearer abc.def-ghi"],
  ["a key of anybody", "key sk-proj-AbCd1234 and sk-ant-api03-xyz_123"],
  ["a key with stars in it", "Incorrect API key provided: sk-ab***********wxyz"],
  ["a password in an address", "connect to https://ada:0a1b2c@example.org failed"],
  ["a token of Google's", "signed in as ya29.a0AfB_0a1b2c3d4e5f60718293"],
  ["a header", 'x-api-key: "0a1b2c3d"'],
])("%s is hidden", (_, text) => {
  const scrubbed = scrubSecrets(text, [KEY])
  expect(scrubbed).toContain("[hidden]")
  expect(scrubbed).not.toMatch(/0a1b2c|wxyz|AbCd|xyz_123|abc\.def/)
})

test("the rest of a sentence stays as it is", () => {
  expect(scrubSecrets("The task-force asked for tokens: 12 of 15.", [KEY, "ab"])).toBe(
    "The task-force asked for tokens: 12 of 15.",
  )
})
