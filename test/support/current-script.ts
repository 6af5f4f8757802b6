import type { Model } from "../../core/engine/model.ts"

/** A model for a server that all tests of a file share: it answers by the script of the current test. */
export const currentScript = (current: () => Model): Model => ({
  ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
  stream: (request, signal) => current().stream(request, signal),
})
