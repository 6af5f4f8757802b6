import { expect, test } from "vitest"
import { isTextOfUrl, linkTarget } from "./safe-link.tsx"

test.each([
  ["https://bank.co/", "bank.co"],
  ["https://bank.co/login", "bank.co"],
  ["https://bank.co/login", "bank.co/login"],
  ["https://bank.co/login", "https://bank.co/login"],
  ["http://www.bank.co/", "www.bank.co/"],
  ["https://bank.co:8443/", "bank.co:8443"],
  ["mailto:ada@example.org", "ada@example.org"],
])("%s may go without a word where its words are %s", (href, words) => {
  expect(isTextOfUrl(words, href)).toBe(true)
})

test.each([
  ["https://bank.co/", "mybank.com/login"],
  ["https://bank.co/", "https://bank.co.uk"],
  ["https://bank.co/", "bank.co is safe"],
  ["https://bank.co/", "https://mybank.com?bank.co"],
  ["https://bank.co/", ""],
  ["https://evil.example/bank.co", "bank.co"],
  ["https://user:bank.co@evil.example/", "bank.co"],
  ["https://xn--bnk-5cd.co/", "bаnk.co"], // a Cyrillic letter
  ["http://bank.co/", "https://bank.co"],
  ["mailto:eve@example.org", "ada@example.org"],
])("%s is named where its words are %s", (href, words) => {
  expect(isTextOfUrl(words, href)).toBe(false)
})

test("the named host is the link's target, not the text before an @", () => {
  expect(linkTarget("https://bank.co@evil.example/")).toBe("evil.example")
})
