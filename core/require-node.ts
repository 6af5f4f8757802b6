const NEEDED = 24

const { node, bun, deno } = process.versions
/*
 * Imported before anything else by each entry that needs Node. `dist` holds no syntax that an older Node does not know, so
 * a program that imports Pawl there gets this sentence, and not a syntax error in a file of ours.
 */
if (bun === undefined && deno === undefined && Number(node.split(".")[0]) < NEEDED) {
  const error = new Error(
    `Pawl needs Node ${NEEDED} or newer; this is Node ${node} (${process.execPath}). Install it from https://nodejs.org.`,
  )
  delete error.stack // the lines of our files say nothing about the program
  throw error
}
