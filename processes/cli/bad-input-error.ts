/** What the user gave cannot be worked with; the message is one line that says what to do. */
export class BadInputError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BadInputError';
  }
}
