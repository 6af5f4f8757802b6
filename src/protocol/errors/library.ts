/** What can go wrong with collections of documents and on the way to the web, for the one table of errors. */
export const libraryErrors = {
  name_taken: {
    status: 409,
    say: (d: { name: string }) => `There is a collection "${d.name}" already; use that one, or choose another name.`,
  },
  library_full: {
    status: 409,
    say: (d: { most: number; what: string }) => `${d.most} ${d.what} are the most; delete some documents first.`,
  },
  document_too_large: {
    status: 413,
    say: (d: { what: string; most: string }) => `${d.what} is larger than ${d.most}; split it, or send a part of it.`,
  },
  upload_too_large: {
    status: 413,
    say: (d: { most: string }) => `A request may bring ${d.most}; \`pawl ingest\` takes files of 64 MB.`,
  },
  document_unreadable: {
    status: 422,
    say: (d: { problem: string; pages?: number }) => `It could not be read: ${d.problem}.`,
  },
  web_unreachable: {
    status: 502,
    say: (d: { host: string; problem: string }) => `${d.host} could not be reached: ${d.problem}.`,
  },
} as const
