/** Where the server's own addresses begin: "" at the top of a name, or the path that a proxy has put it below. */
const here = import.meta.url
export const base = new URL("..", here).pathname.replace(/\/$/, "")
