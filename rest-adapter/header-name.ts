/** `last-event-id` → `Last-Event-ID`: a header as its specification writes it. */
export function headerName(lowerCase: string): string {
  return lowerCase.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase()).replace(/-Id$/, '-ID');
}
