import { beforeEach, inject } from "vitest"

/** Skips every page test, with the reason, on a machine without a browser. */
beforeEach(({ skip }) => {
  const why = inject("noBrowser")
  skip(why !== "", why)
})
