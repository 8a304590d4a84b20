/** Prefix of a public id: says what kind of object it names. */
export type IdPrefix =
  | 'attr'
  | 'ds'
  | 'sync'
  | 'agent'
  | 'key'
  | 'kp'
  | 'ws'
  | 'aud'
  | 'evt'
  | 'dlv'
  | 'req'
  | 'upload'
  | 'exp'
  | 'com'
  | 'ins'
  | 'rcpt'
  | 'inv';
