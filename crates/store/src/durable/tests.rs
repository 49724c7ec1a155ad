//! Tests of the durable store on failing disks.
