const SHOWN = 20;

/** The names of channels as a message lists them: the first few, and how many more there are. */
export function namesOf(channels: readonly string[]): string {
  if (channels.length === 0) return 'none yet';
  const more = channels.length - SHOWN;
  return channels.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
