import { expect, test } from "vitest"
import { ProgramTransport } from "./program-transport.ts"

test("a program that ends and leaves another one behind is over, and so is that one", async () => {
  // What is left behind holds the output: as long as it lives, nobody hears that it is over.
  const script = `sleep 1000 & printf '{"jsonrpc":"2.0","method":"left"}\\n'; exit 0`
  let isDisposed = false
  const launched = {
    ...{ program: "/bin/sh", arguments: ["-c", script], cwd: "/", environment: { PATH: "/usr/bin:/bin" } },
    async [Symbol.asyncDispose]() {
      isDisposed = true
    },
  }
  const transport = new ProgramTransport(launched, 1000)
  const heard: unknown[] = []
  const closed = Promise.withResolvers<void>()
  transport.onmessage = (message) => heard.push(message)
  transport.onclose = closed.resolve
  await transport.start()
  await closed.promise
  expect(heard).toMatchObject([{ method: "left" }])
  expect(isDisposed).toBe(true)
})
