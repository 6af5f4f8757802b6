/** What is embedded of a note: what it is called says as much of it as what it holds. */
export const textOfNote = ({ title, content }: { readonly title: string; readonly content: string }): string =>
  `${title}\n\n${content}`
