/*
 * inet_format.h
 *		How rows store inet and cidr: a byte for the family, one for the bits of the network, and the address.  See PostgreSQL's utils/inet.h.
 */
#ifndef MGPU_INET_FORMAT_H
#define MGPU_INET_FORMAT_H

#define MGPU_INET_V4 2			/* families */
#define MGPU_INET_V6 3
#define MGPU_INET_V4_BYTES 6	/* of a value */
#define MGPU_INET_V6_BYTES 18

#endif							/* MGPU_INET_FORMAT_H */
