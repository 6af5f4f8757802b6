/** What can go wrong on the way into an MCP server that wants a sign-in. Each says what its person can do. */
export const mcpErrors = {
  mcp_sign_in_needed: {
    status: 409,
    say: (d: { name: string; isAgain: boolean }) =>
      `The MCP server "${d.name}" cannot be used until the person signs in to it${d.isAgain ? " again: the sign-in has ended" : ""}. They do it in the settings of the page, under MCP servers, or with \`pawl mcp login ${d.name}\`.`,
  },
  mcp_scope_needed: {
    status: 409,
    say: (d: { name: string; scope: string }) =>
      `The MCP server "${d.name}" asks for more than the person has allowed when they signed in${d.scope ? ` (${d.scope})` : ""}. To allow it, they sign in again: in the settings of the page, under MCP servers, or with \`pawl mcp login ${d.name}\`.`,
  },
  mcp_sign_in_failed: {
    status: 502,
    say: (d: { name: string; problem: string }) => `Signing in to the MCP server "${d.name}" failed: ${d.problem}.`,
  },
  // The same for somebody else's, for one that is finished again, and for one that is late.
  mcp_sign_in_not_begun: {
    status: 409,
    say: () =>
      "This sign-in was begun by somebody else or in another browser, was finished before, or took longer than ten minutes. Begin it again.",
  },
} as const
