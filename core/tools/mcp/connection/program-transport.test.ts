import { expect, test } from "vitest"
import { jsonLimits } from "../../../shared/text/read-json.ts"
import { ProgramTransport } from "./program-transport.ts"

test("the error of a failed program has its exit, its limit and the end of its stderr", async () => {
  const script = `echo "Error: Cannot find \\033[2Jmodule" >&2; echo '    at x.js' >&2; exit 3`
  const launched = {
    ...{ program: "/bin/sh", arguments: ["-c", script], cwd: "/", environment: { PATH: "/usr/bin:/bin" } },
    says: "It ran in a sandbox without network",
    async [Symbol.asyncDispose]() {},
  }
  const transport = new ProgramTransport(launched, jsonLimits.answer)
  const closed = Promise.withResolvers<void>()
  transport.onclose = closed.resolve
  await transport.start()
  await closed.promise
  expect(transport.circumstances).toBe(
    "It ended with exit code 3. It ran in a sandbox without network. On stderr: Error: Cannot find module",
  )
})

test("a program that ends and leaves a child process ends with that process", async () => {
  // The remaining process holds the output open, so its end would never be reported.
  const script = `sleep 1000 & printf '{"jsonrpc":"2.0","method":"left"}\\n'; exit 0`
  let isDisposed = false
  const launched = {
    ...{ program: "/bin/sh", arguments: ["-c", script], cwd: "/", environment: { PATH: "/usr/bin:/bin" } },
    async [Symbol.asyncDispose]() {
      isDisposed = true
    },
  }
  const transport = new ProgramTransport(launched, jsonLimits.answer)
  const heard: unknown[] = []
  const closed = Promise.withResolvers<void>()
  transport.onmessage = (message) => heard.push(message)
  transport.onclose = closed.resolve
  await transport.start()
  await closed.promise
  expect(heard).toMatchObject([{ method: "left" }])
  expect(isDisposed).toBe(true)
})
