/** What can go wrong with the files of messages. Part of the one table in errors.ts. */
export const fileErrors = {
  file_refused: {
    status: 400,
    say: (d: { problem: string }) => `The file was not taken: ${d.problem}.`,
  },
  message_file_too_large: {
    status: 413,
    say: (d: { most: number }) =>
      `The file was not taken: it is larger than ${d.most / 1024 / 1024} MB. Send a part of it, or put it into a collection of the library.`,
  },
  too_many_uploads: {
    status: 429,
    say: (d: { seconds: number }) =>
      `The file was not taken: you are sending as much at once as one person may. Try again in ${d.seconds} s, when some of it has arrived.`,
  },
  uploads_full: {
    status: 503,
    say: (d: { seconds: number }) =>
      `The file was not taken: others are sending as much at once as this server takes. Try again in ${d.seconds} s.`,
  },
  files_full: {
    status: 409,
    say: (d: { most: number }) =>
      `Your files in messages would take more than ${d.most / 1024 / 1024} MB, which is the most (PAWL_FILES_MB); delete conversations with files that you no longer need.`,
  },
  file_unreadable: {
    status: 500,
    say: (d: { problem: string }) => `The file cannot be read: ${d.problem}.`,
  },
  files_folder_refused: {
    status: 500,
    say: (d: { path: string; problem: string }) =>
      `The folder of files (PAWL_FILES_FOLDER, ${d.path}) cannot be used: ${d.problem}.`,
  },
} as const
