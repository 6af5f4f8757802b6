// What `npm ci` does last in a checkout: builds what `npx pawl` starts. Not where only tests run, which build their own; nor
// where the sources are not there yet, as in a container. Whatever goes wrong, a start from source remains.
import { existsSync } from "node:fs"
const isCheckout = existsSync(new URL("../apps/cli/pawl.ts", import.meta.url))
if (isCheckout && !process.env.CI && Number(process.versions.node.split(".")[0]) >= 24) {
  try {
    const { buildCheckout } = await import("./build-checkout.ts")
    await buildCheckout()
  } catch (error) {
    console.error(
      `Pawl could not be built and starts from source: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
