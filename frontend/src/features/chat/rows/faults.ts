import type { FaultClass } from '$lib/backend/types';

/** The section of the settings where a fault of a class can be mended; "" if none. */
export function settingsFor(faultClass: FaultClass): '' | 'models' | 'backends' {
  switch (faultClass) {
    case 'no_key':
    case 'bad_key':
    case 'no_such_model':
    case 'quota':
      return 'models';
    case 'unavailable':
    case 'sandbox_gone':
      return 'backends';
    default:
      return '';
  }
}
