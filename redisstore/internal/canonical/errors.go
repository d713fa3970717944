package canonical

import "errors"

// ErrNotBucket says that the key holds something that is not a bucket of the documented script. Nothing was changed.
var ErrNotBucket = errors.New("canonical: the key holds no bucket of the documented script")

// ErrReply says that a reply is not one of the script.
var ErrReply = errors.New("canonical: not a reply of the script")
