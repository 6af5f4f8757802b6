/** The text of a note to embed. Its title says as much about it as its text. */
export const textOfNote = ({ title, content }: { readonly title: string; readonly content: string }): string =>
  `${title}\n\n${content}`
