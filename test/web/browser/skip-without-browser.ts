import { beforeEach, inject } from "vitest"

/** On a machine without a browser every test of the page is left out, and says why. */
beforeEach(({ skip }) => {
  const why = inject("noBrowser")
  skip(why !== "", why)
})
