// `npm start` runs this before the server: it builds the program, the page and the documentation if they are missing or old. On a
// Node that is too old for the build it does nothing; the launcher, which comes next, reports that or finds a newer Node.
if (Number(process.versions.node.split(".")[0]) >= 24) {
  try {
    const { buildCheckout } = await import("./build-checkout.ts")
    await buildCheckout()
  } catch (error) {
    console.error(
      `Pawl could not be built and starts from source: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  try {
    const { buildPage } = await import("./build-page.ts")
    await buildPage({ ifStale: true })
    const { buildDocs } = await import("./build-docs.ts")
    await buildDocs({ ifStale: true })
  } catch (error) {
    // A server without its page, or with an older one, is better than none.
    console.error(
      `The page or the documentation could not be built: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
